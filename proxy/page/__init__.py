"""The page at `/ui`: shows requests and savings.

    serving.py   serves the files of static/, read once, with the headers that keep the page to itself
    static/      index.html, its modules and styles; plain ES modules, no build step, nothing from elsewhere

The files hold no data, so they need no admission. Whatever is shown comes from /admin/api, which does.
"""
