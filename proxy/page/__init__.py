"""The page at `/ui`: what the proxy does and has saved, request by request.

    serving.py   the files of static/, read once, with the headers that keep the page to itself
    static/      index.html, its modules and styles; plain ES modules, no build step, nothing from elsewhere

The files hold no data, so they need no admission. Whatever is shown comes from /admin/api, which does.
"""
