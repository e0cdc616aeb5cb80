# Which row of a table has which tests? Run as
#
#   awk -f tests/house/covered.awk -v table=docs/regressions.md docs/regressions.md SOURCES...
#
# in the top folder, with paths relative to it: what a file is is read from where it lies.
#
# A row begins with "| REG_R01 |" (or FLT_, INV_; several ids of one row are separated by blanks), and its last column says
# what is open and why. A test carries ids at the front or in the middle of its name: REG_R02_R08_EverySize carries two, of one
# list; FLT_D16_INV_S03_AKilledWriter one of each; leading zeros do not matter. A scenario carries those that its text names.
# docs/semantics.md has rules instead of rows, "- **S-45** ...", which tests carry as S45; ids of its table of reserved ones, some
# of them "S-21 to S-28", are open.
# A check in src/ that reports an invariant counts for the invariant. Every row needs a test or a reason, and every id a row.
# Mutants (tests/mutants) are listed with the rows that they break; they are no tests.

function id_of(kind, word) {  # "REG", "F04" -> "REG_F4"; empty: no id
  if (word !~ /^[A-Z][0-9]+$/) return ""
  return kind "_" substr(word, 1, 1) (substr(word, 2) + 0)
}

function id_in(word) {  # a word of a row: REG_F04, or S45 of a rule
  return list == "S" ? id_of("S", word) : id_of(substr(word, 1, 3), substr(word, 5))
}

function add_row(label, reason,    count, words, i, id) {
  rows[++row_count] = label
  reasons[label] = reason
  count = split(label, words, / +/)
  for (i = 1; i <= count; i++) {
    id = id_in(words[i])
    if (id in row_of) strange[++strange_count] = words[i] " has two rows"
    row_of[id] = label
  }
}

function read_rule(text,    last, number) {  # S-45, or a row of those that are not built
  match(text, /S-[0-9]+/)
  number = substr(text, RSTART + 2, RLENGTH - 2) + 0
  if (text ~ /^- /) { add_row("S" number, ""); return }
  last = number
  if (match(text, /to S-[0-9]+/)) last = substr(text, RSTART + 5, RLENGTH - 5) + 0
  for (; number <= last; number++) add_row("S" number, "no rule yet")
}

function carry(id, holder) {
  if (id !~ "^" list "_" || (id SUBSEP holder) in known) return
  known[id, holder]
  holders[id] = holders[id] (holders[id] == "" ? "" : " ") holder
  if (!(id in first)) { first[id] = holder; ids[++id_count] = id }
}

function break_by(mutant, text,    word, id) {
  while (match(text, /(REG|FLT|INV)_[A-Z][0-9]+/)) {
    word = substr(text, RSTART, RLENGTH)
    id = id_of(substr(word, 1, 3), substr(word, 5))
    text = substr(text, RSTART + RLENGTH)
    if (id !~ "^" list "_") continue
    mutants[id] = mutants[id] (mutants[id] == "" ? "" : ", ") mutant
    if (!(id in first_mutant)) { first_mutant[id] = mutant; mutant_ids[++mutant_id_count] = id }
  }
}

function read_name(suite, name,    part, i, n, kind, id, found) {
  n = split(name, part, "_")
  kind = ""
  for (i = 1; i <= n; i++) {
    if (list == "S") { if (part[i] ~ /^S[0-9]+$/) carry(id_of("S", part[i]), suite "." name); continue }
    if (part[i] == "REG" || part[i] == "FLT" || part[i] == "INV") { kind = part[i]; found = 0; continue }
    id = kind == "" ? "" : id_of(kind, part[i])
    if (id != "") { found = 1; carry(id, suite "." name) }
    else {
      if (kind == list && !found) strange[++strange_count] = suite "." name " says " kind " but not which"
      kind = ""
    }
  }
}

function read_test(text) {
  sub(/^[^(]*\([ \t]*/, "", text)
  sub(/[ \t]*\).*/, "", text)
  if (split(text, argument, /[ \t]*,[ \t]*/) >= 2) read_name(argument[1], argument[2])
}

function read_words(text, holder,    word) {  # ids anywhere in a text
  while (match(text, /(REG|FLT|INV)_[A-Z][0-9]+/)) {
    word = substr(text, RSTART, RLENGTH)
    carry(id_of(substr(word, 1, 3), substr(word, 5)), holder)
    text = substr(text, RSTART + RLENGTH)
  }
}

BEGIN {
  list = table ~ /semantics/ ? "S" : table ~ /regressions/ ? "REG" : table ~ /faults/ ? "FLT" : "INV"
  FS = "|"
}
FNR == 1 { open_test = "" }

FILENAME == table && list == "S" {
  if ($0 ~ /^- \*\*S-[0-9]+|^\| S-[0-9]+/) read_rule($0)
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
FILENAME ~ /^tests\/mutants\// {
  if ($0 ~ /^[a-z][a-z0-9_]*$/) mutant = $0
  if ($0 ~ /^breaks: /) break_by(mutant, $0)
  next
}
FILENAME ~ /\.txt$/ { read_words($0, FILENAME); next }
FILENAME ~ /^(src|verify)\// { if (list == "INV" && $0 !~ /^ *\/\// && $0 ~ /"INV_|violat|CHECK/) read_words($0, FILENAME); next }

open_test != "" { open_test = open_test $0; if ($0 ~ /\)/) { read_test(open_test); open_test = "" } next }
/^ *(TYPED_)?TEST(_F|_P)?\(/ { if ($0 ~ /\)/) read_test($0); else open_test = $0 }

END {
  for (r = 1; r <= row_count; r++) {
    label = rows[r]
    count = split(label, words, / +/)
    tests = broken = ""
    for (i = 1; i <= count; i++) {
      id = id_in(words[i])
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
    if (!(ids[i] in row_of)) strange[++strange_count] = first[ids[i]] " carries " ids[i] ", which " table " does not have"
  for (i = 1; i <= mutant_id_count; i++)
    if (!(mutant_ids[i] in row_of))
      strange[++strange_count] = "mutant " first_mutant[mutant_ids[i]] " breaks " mutant_ids[i] ", which " table " does not have"
  for (i = 1; i <= strange_count; i++) print "STRANGE: " strange[i]
  printf "%d rows: %d with tests, %d in part, %d none with a reason, %d missing\n", row_count, covered, partly, none, missing
  exit row_count == 0 || missing > 0 || strange_count > 0
}
