"""Memory as files: a folder per person, which people open, correct and trust. The database stays the truth.

names      names of folders; codes of facts in a file
folder     one person's folder on disk: guards, lock, atomic writes, older texts
lines      words as they may stand in a file: no line, comment or control character of theirs
texts      changing a file that others may be changing
journal    the daily log: what was decided, stated, asked to be remembered, and forgotten
snapshots  the last messages of a conversation that has ended
scrubbing  forgetting, in every file of a folder
recalling  turns to recall that only files have
"""
