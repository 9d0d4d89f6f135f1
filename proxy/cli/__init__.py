"""The command `olvido`.

main.py      its subcommands
doctor.py    `olvido doctor`: checks installation, storage, port and upstreams
memory.py    `olvido memory`: facts in a terminal, read and written in the storage folder
"""
