"""The page at `/ui`: shows requests and savings, and the documents. Plain ES modules, no build step, nothing from
elsewhere.

    GET /                 redirects to the page
    GET /ui               index.html, whose links are relative: it may be reached under a prefix
    GET /ui/{file}        a file of static/; a browser asks each time whether its copy is still the newest (ETag)
    GET /ui/docs          redirects to the first of the documents
    GET /ui/docs/{name}   a document as a page, or a picture or an example that documents name

    files.py      the files of static/, and the headers that keep the page to itself
    documents.py  the documents: which there are, their addresses, the page around each
    markdown.py   Markdown as HTML

The files hold no data, so they need no admission. Whatever is shown comes from /admin/api, which does.
"""

from proxy.page.documents import document, to_documents
from proxy.page.files import file, page, to_page

__all__ = ["document", "file", "page", "to_documents", "to_page"]
