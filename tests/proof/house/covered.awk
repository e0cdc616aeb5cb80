# Which row of a table has which tests, and which tests does an id have? Run as
#
#   awk -f tests/proof/house/covered.awk -v table=docs/regressions.md docs/regressions.md SOURCES...
#
# in the top folder, with paths relative to it: what a file is is read from where it lies. With -v only=REG_R01 it prints the
# names of the tests of that id and nothing else.
#
# A test says which ids it covers in one comment right above it, and its name has none:
#
#   // Covers: REG_R02 FLT_D16 S-38 LT-4
#   TEST(QuorumTest, EverySizeNeedsItsMajority) {
#
# The ids may go on in the next line, and leading zeros do not matter. A scenario covers those that its text names.
#
# A row begins with "| REG_R01 |" (or FLT_, INV_; several ids of one row are separated by blanks), and its last column says
# what is open and why. docs/semantics.md has rules instead of rows, "- **S-45** ..."; ids of its table of reserved ones, some
# of them "S-21 to S-28", are open. A row of docs/time.md begins with "| T1, LT-1 |" and is never open.
# A check in src/ that reports an invariant counts for the invariant. Every row needs a test or a reason, and every id a row.
# Mutants (tests/proof/mutants) are listed with the rows that they break; they are no tests.

function id_of(word) {  # "REG_F04" -> "REG_F4", "S-05" -> "S_5", "T4" -> "T_4"; empty: no id
  if (word ~ /^(REG|FLT|INV)_[A-Z][0-9]+$/) return substr(word, 1, 5) (substr(word, 6) + 0)
  if (word ~ /^(S|LT)-[0-9]+$/) return substr(word, 1, index(word, "-") - 1) "_" (substr(word, index(word, "-") + 1) + 0)
  return word ~ /^T[0-9]+$/ ? "T_" (substr(word, 2) + 0) : ""
}

function is_of_list(id) { return id ~ "^" list "_" || (list == "T" && id ~ /^LT_/) }

function add_row(label, reason,    count, words, i, id) {
  rows[++row_count] = label
  reasons[label] = reason
  count = split(label, words, /[ ,]+/)
  for (i = 1; i <= count; i++) {
    id = id_of(words[i])
    if (id in row_of) strange[++strange_count] = words[i] " has two rows"
    row_of[id] = label
  }
}

function written(number) { return sprintf("S-%02d", number) }

function read_rule(text,    last, number) {  # S-45, or a row of those that are not built
  match(text, /S-[0-9]+/)
  number = substr(text, RSTART + 2, RLENGTH - 2) + 0
  if (text ~ /^- /) { add_row(written(number), ""); return }
  last = number
  if (match(text, /to S-[0-9]+/)) last = substr(text, RSTART + 5, RLENGTH - 5) + 0
  for (; number <= last; number++) add_row(written(number), "no rule yet")
}

function carry(word, holder,    id) {
  id = id_of(word)
  if (!is_of_list(id) || (id SUBSEP holder) in known) return
  known[id, holder]
  holders[id] = holders[id] (holders[id] == "" ? "" : " ") holder
  if (!(id in first)) { first[id] = holder; written_of[id] = word; ids[++id_count] = id }
}

function break_by(mutant, text,    word, id) {
  while (match(text, /(REG|FLT|INV)_[A-Z][0-9]+/)) {
    word = substr(text, RSTART, RLENGTH)
    id = id_of(word)
    text = substr(text, RSTART + RLENGTH)
    if (!is_of_list(id)) continue
    mutants[id] = mutants[id] (mutants[id] == "" ? "" : ", ") mutant
    if (!(id in first_mutant)) { first_mutant[id] = mutant; mutant_ids[++mutant_id_count] = id }
  }
}

function read_covers(text,    words, count, i) {  # the ids of the test that must follow
  count = split(text, words, /[ \t]+/)
  for (i = 1; i <= count; i++) {
    if (words[i] == "") continue
    if (id_of(words[i]) == "") strange[++strange_count] = FILENAME ":" FNR " covers " words[i] ", which is no id"
    else covers[++covers_count] = words[i]
  }
}

function covers_nothing() {
  if (covers_at != "") strange[++strange_count] = covers_at " covers ids, but no test follows"
  covers_at = ""
  covers_count = 0
}

function read_test(text,    i, name) {
  sub(/^[^(]*\([ \t]*/, "", text)
  sub(/[ \t]*\).*/, "", text)
  if (split(text, argument, /[ \t]*,[ \t]*/) < 2) { covers_nothing(); return }
  name = argument[1] "." argument[2]
  if (argument[2] ~ /(^|_)((REG|FLT|INV|LT)_|(S|T|LT)[0-9]+_)/)
    strange[++strange_count] = name " has an id in its name, not in a comment above it"
  for (i = 1; i <= covers_count; i++) carry(covers[i], name)
  covers_at = ""
  covers_count = 0
}

function read_words(text, holder,    word) {  # ids anywhere in a text
  while (match(text, /(REG|FLT|INV)_[A-Z][0-9]+/)) {
    word = substr(text, RSTART, RLENGTH)
    carry(word, holder)
    text = substr(text, RSTART + RLENGTH)
  }
}

BEGIN {
  list = table ~ /semantics/ ? "S" : table ~ /regressions/ ? "REG" : table ~ /faults/ ? "FLT" : table ~ /time/ ? "T" : "INV"
  FS = "|"
}
FNR == 1 { covers_nothing(); open_test = "" }

FILENAME == table && list == "S" {
  if ($0 ~ /^- \*\*S-[0-9]+|^\| S-[0-9]+/) read_rule($0)
  next
}
FILENAME == table && list == "T" {
  if ($0 ~ /^## /) rules = $0 ~ /^## The rules/
  label = $2
  gsub(/^ +| +$/, "", label)
  if (rules && label ~ /^L?T-?[0-9]/) add_row(label, "")
  next
}
FILENAME == table {
  if ($0 !~ /^\| (REG|FLT|INV)_[A-Z][0-9]+/) next
  label = $2
  gsub(/^ +| +$/, "", label)
  reason = $(NF - 1)
  gsub(/^ +| +$/, "", reason)
  add_row(label, reason)
  next
}

FILENAME ~ /\.def$/ {  # the ids stand in the first line of a row, between its first two quotes
  if ($0 !~ /^MUTANT\(/) next
  split($0, quoted, "\"")
  split(quoted[1], argument, /[(,]/)
  break_by(argument[2], quoted[2])
  next
}
FILENAME ~ /^tests\/proof\/mutants\// {
  if ($0 ~ /^[a-z][a-z0-9_]*$/) mutant = $0
  if ($0 ~ /^breaks: /) break_by(mutant, $0)
  next
}
FILENAME ~ /\.txt$/ { read_words($0, FILENAME); next }
FILENAME ~ /^(src|verify)\// { if (list == "INV" && $0 !~ /^ *\/\// && $0 ~ /"INV_|violat|CHECK/) read_words($0, FILENAME); next }

open_test != "" { open_test = open_test $0; if ($0 ~ /\)/) { read_test(open_test); open_test = "" } next }
/^ *\/\/ Covers: / { covers_nothing(); covers_at = FILENAME ":" FNR; read_covers(substr($0, index($0, ":") + 1)); next }
covers_at != "" && /^ *\/\/ / { read_covers(substr($0, index($0, "//") + 2)); next }
covers_at != "" && !/^ *(TYPED_)?TEST(_F|_P)?\(/ { covers_nothing() }
/^ *(TYPED_)?TEST(_F|_P)?\(/ { if ($0 ~ /\)/) read_test($0); else open_test = $0 }

END {
  covers_nothing()
  if (only != "") {
    if (!(id_of(only) in row_of)) { print table " has no " only | "cat >&2"; exit 1 }
    count = split(list == "T" ? row_of[id_of(only)] : only, words, /[ ,]+/)  # T4 and LT-4 are one rule
    for (w = 1; w <= count; w++) {
      n = split(holders[id_of(words[w])], holder, " ")
      for (i = 1; i <= n; i++) if (holder[i] !~ /\// && !(holder[i] in printed)) { print holder[i]; printed[holder[i]] }
    }
    exit
  }
  for (r = 1; r <= row_count; r++) {
    label = rows[r]
    count = split(label, words, /[ ,]+/)
    tests = broken = ""
    for (i = 1; i <= count; i++) {
      id = id_of(words[i])
      if (id in holders) tests = tests (tests == "" ? "" : " ") holders[id]
      if (id in mutants) broken = broken (broken == "" ? "" : ", ") mutants[id]
    }
    reason = reasons[label]
    if (tests != "" && reason == "") ++covered
    if (tests != "" && reason != "") ++partly
    if (tests == "" && reason != "") ++none
    if (tests == "" && reason == "") ++missing
    head = label
    n = split(tests, holder, " ")
    for (i = 1; i <= n; i++) { printf "%-18s %s\n", head, holder[i]; head = "" }
    if (reason != "") printf "%-18s %s: %s\n", head, n ? "open" : "none", reason
    if (broken != "") printf "%-18s mutants: %s\n", "", broken
    if (!n && reason == "") printf "%-18s MISSING: neither a test nor a reason\n", head
  }
  for (i = 1; i <= id_count; i++)
    if (!(ids[i] in row_of))
      strange[++strange_count] = first[ids[i]] " covers " written_of[ids[i]] ", which " table " does not have"
  for (i = 1; i <= mutant_id_count; i++)
    if (!(mutant_ids[i] in row_of))
      strange[++strange_count] = "mutant " first_mutant[mutant_ids[i]] " breaks " mutant_ids[i] ", which " table " does not have"
  for (i = 1; i <= strange_count; i++) print "STRANGE: " strange[i]
  printf "%d rows: %d with tests, %d in part, %d none with a reason, %d missing\n", row_count, covered, partly, none, missing
  exit row_count == 0 || missing > 0 || strange_count > 0
}
