"""Memory as files: a folder per person, which people open, correct and trust. The database stays the truth.

names        names of folders; codes of facts in a file
text         a file's text and its bytes: encodings, line ends
folder       one person's folder on disk: guards, lock, reading, writing, putting aside
               layout      what is in it, and which names it may have
               atomic      a text takes the place of another; what came meanwhile stays
               temporary   what a text is written to before that
               exchange    the two system calls for it
               history     `.history/`, older texts
               aside       `.aside/`, what a wipe took away
               handles     files and folders below an open folder; no link is followed
unusable     the one error of all of these
remembering  what happens to the memory of people, carried into their folders one after the other
               journal     the daily log: what was decided, stated, asked to be remembered, and forgotten
               snapshots   the last messages of a conversation that has ended
               scrubbing   forgetting, in every file of a folder
               recalling   turns to recall that only files have
               last_turns  what a snapshot is made of
               lines       words as they may stand in a file: no line, comment or control character of theirs
               texts       changing a file that others may be changing
"""
