project = "Distributed systems"
language = "en"
extensions = ["myst_parser"]
html_theme = "furo"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_js_files = [("https://lab.example/deliver-twice.js", {"type": "module"})]
