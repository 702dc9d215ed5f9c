# Finds the lines with TODO or FIXME in the tracked text files of the working tree.
#
#   sh todo.sh

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

# "name:lines", and for the first places "name:line:word", once for each word. The rest of a line is not read.
grep_tracked --count -e TODO -e FIXME >"$scratch/counts" || stop "git cannot search the tracked files."
grep_tracked -n -o -e TODO -e FIXME 2>/dev/null | head -n 200 >"$scratch/places"

awk '
match($0, /:[0-9]+$/) { total += substr($0, RSTART + 1); files++ }
END { printf "    Lines with TODO or FIXME: %d in %d %s\n", total, files, (files == 1 ? "file" : "files") }
' "$scratch/counts"

awk -v max="$max_rows" "$names_awk"'
{
  match($0, /:[0-9]+:[A-Z]+$/)
  name = substr($0, 1, RSTART - 1)
  split(substr($0, RSTART + 1), parts, ":")
  place = name ":" parts[1]
  if (place == last || count == max) next
  last = place
  if (++count == 1) printf "\n    %8s  %s\n", "line", "first places"
  printf "    %8d  %s\n", parts[1], shown(name)
}
' "$scratch/places"
