# shellcheck shell=bash
# ./dev docs: the site of docs/ and the API reference of include/. ./dev reads this file.

docs_command() {  # [--out FOLDER]: the site is FOLDER/site, and beside it what it was made of
  local out=out/docs site=out/site undocumented
  case ${1:-} in
    "") ;;
    --out) out=${2:?--out needs a folder} site=$2/site ;;
    *) fail "docs takes --out FOLDER or nothing" ;;
  esac
  need docs
  mkdir -p "$out" "$site"
  logged "reading the headers" docs-doxygen doxygen_headers "$out" || give_up docs-doxygen
  logged "putting the pages together" docs-pages python3 -B tools/docs/pages.py . "$out/xml" "$out" || give_up docs-pages
  logged "building the site" docs-mkdocs mkdocs build --strict --config-file "$out/mkdocs.yml" --site-dir "$(realpath "$site")" || give_up docs-mkdocs
  logged "making the search" docs-search python3 -B tools/docs/search.py "$site" || give_up docs-search
  logged "checking links" docs-check python3 -B tools/docs/check.py "$site" || give_up docs-check
  undocumented=$(wc -l <"$out/undocumented")
  say "$(tail -n 1 out/logs/docs-check.log); $(tail -n 1 out/logs/docs-pages.log); $undocumented without a comment ($out/undocumented)" \
    "$site/index.html: open it in a browser; nothing is loaded from elsewhere"
}

doxygen_headers() {  # FOLDER: into FOLDER/xml; what has no comment is listed in FOLDER/undocumented
  rm -rf "$1/xml" "$1/warnings"
  { cat tools/docs/Doxyfile; printf '%s\n' "INPUT = include" "OUTPUT_DIRECTORY = $1" "WARN_LOGFILE = $1/warnings"; } | doxygen -
  LC_ALL=C sort -u "$1/warnings" >"$1/undocumented"  # it says the same of a namespace and of a file
}
