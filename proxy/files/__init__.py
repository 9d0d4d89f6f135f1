"""Memory as files: a folder per person, which people open, correct and trust. The database stays the truth.

names      names of folders; codes of facts in a file
text       a file's text and its bytes: encodings, line ends
folder     one person's folder on disk: guards, lock, reading, writing, putting aside
             layout      what is in it, and which names it may have
             atomic      a text takes the place of another; what came meanwhile stays
             temporary   what a text is written to before that
             exchange    the two system calls for it
             history     `.history/`, older texts
             aside       `.aside/`, what a wipe took away
             handles     files and folders below an open folder; no link is followed
unusable   the one error of all of these
"""
