"""Memory as files: a folder per person, which people open, correct and trust. The database stays the truth.

names      names of folders; codes of facts in a file
folder     one person's folder on disk: guards, lock, atomic writes, older texts
"""
