"""Memory as files: a folder per person, which people open, correct and trust. The database stays the truth.

serving.py      all folders in a process that serves: memory tells them what happens, and hears what people write

names.py        names of folders; codes of facts in a file
text.py         a file's text and its bytes: encodings, line ends
document.py     MEMORY.md as lines: headings, bullets that are facts, anything else
known.py        the facts of a person while changes of their MEMORY.md are applied
merging.py      the three-way merge of MEMORY.md: a person's changes on what memory has become
merged_lines.py  for it: the lines that are written
syncing.py      the sync of one person's MEMORY.md with memory
desk_syncing.py the sync of the documents of their desk, which the model writes and they do, with files; its rules
  desk_texts.py what becomes of a document that both have changed
  bases.py      `.desk/`: the texts that the person had before them
watching.py     the watcher: sees what was saved and what was learnt, and syncs it
diffs.py        the difference between two texts of MEMORY.md
looking.py      a look at folders: whose they are, the last syncs of a file

remembering.py  what happens to the memory of people, carried into their folders
  folder_work.py  one piece of work after the other, in a thread
  journal.py      the daily log: what was decided, stated, asked to be remembered, and forgotten; what a model noted
  snapshots.py    the last messages of a conversation that has ended, as a file
  slugs.py        its name: the words that tell most of it
  snapshot_files.py  these files in a folder: written, renamed
  last_turns.py   what a snapshot is made of
  scrubbing.py    forgetting, in every file of a folder
  recalling.py    turns to recall that only files have
  lines.py        words as they may stand in a file: no line, comment or control character of theirs
  rewriting.py    changing a file that others may be changing

taping.py       tapes of all people: the news of the store of desks, carried into their folders
  tape.py         the tape of a session: its lines, rotation, what was forgotten

folder.py       one person's folder on disk: guards, lock, reading, writing, putting aside
  layout.py       what is in it, and which names it may have
  handles.py      files and folders below an open folder; no link is followed
  atomic.py       a text takes the place of another; what came meanwhile stays
  exchange.py     the two system calls for it
  temporary.py    what a text is written to before that
  history.py      `.history/`, older texts
  aside.py        `.aside/`, what a wipe took away
unusable.py     the one error of all of these: a clear line for people
"""
