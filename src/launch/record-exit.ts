/**
 * Functions of the launch script that record how its program ended. They use `$instance`, `$run` and `ring_all`, and set `$on_hangup`. POSIX sh.
 */
export const RECORD_EXIT = String.raw`# Milliseconds since the epoch; whole seconds if date does not support %3N.
now() {
  ms=$(date +%s%3N)
  case $ms in
    "" | *[!0-9]*) ms=$(date +%s)000 ;;
  esac
  printf %s "$ms"
}

# Prints the name of the signal for an exit code above 128; the numbers differ between systems.
signal_of() {
  [ "$1" -gt 128 ] && [ "$1" -lt 160 ] || return 0
  name=$(kill -l "$1")
  case $name in
    [A-Z]*) printf 'SIG%s' "$name" ;;
  esac
}

as_signal() {
  signal=$(signal_of "$1")
  [ -z "$signal" ] || printf ',"signal":"%s"' "$signal"
}

# Replaces the file atomically; does not recreate the directory of a deleted team.
record_exit() {
  (
    umask 077
    printf '{"instance":"%s","code":%d%s,"at":%s,"lastLines":[%s]}\n' \
      "$instance" "$1" "$(as_signal "$1")" "$(now)" "$2" >"$run/.exit.json.$$.sh.tmp" &&
      mv -f "$run/.exit.json.$$.sh.tmp" "$run/exit.json"
  )
}

# Records the end of a program whose script ends too: tries again for a few seconds.
record_last() {
  tries=0
  until record_exit "$1" "$2"; do
    tries=$((tries + 1))
    [ "$tries" -lt 4 ] || return 1
    sleep 1
  done
}

# Records the end while the pane waits: tries again in the background until it succeeds, the user answers, or this script or the
# team is gone.
record_waiting() {
  retry=
  record_exit "$1" "$2" && return
  (
    on_hangup=-
    trap - HUP INT QUIT TERM TTOU TTIN
    while sleep 1 && kill -0 "$$" && [ -d "${"$"}{run%/run/*}" ]; do
      record_exit "$1" "$2" && ring_all && break
    done
  ) </dev/null >/dev/null 8>&- 9<&- &
  retry=$!
}

# Afterwards, no late record can be mistaken for the end of the restarted program.
stop_recording() {
  [ -n "$retry" ] || return 0
  kill "$retry"
  wait "$retry"
  retry=
}`;
