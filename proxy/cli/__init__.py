"""The command `olvido`.

main.py           its subcommands
doctor.py         `olvido doctor`: checks installation, storage, port and upstreams
memory.py         `olvido memory`: facts in a terminal; memory_folder.py: the storage folder that it reads and writes
"""
