"""The command `olvido`.

main.py           its subcommands
doctor.py         `olvido doctor`: what would keep this machine from serving
memory.py         `olvido memory`: facts in a terminal; memory_folder.py: the storage folder that it works on
"""
