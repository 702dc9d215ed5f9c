import type { AgentPaths } from "../protocol/paths.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { PANE_VARIABLES } from "./agent-environment.ts";

export interface LaunchScriptInput {
  /** Whom the epitaph names. */
  readonly agentId: string;
  readonly cwd: string;
  readonly paths: AgentPaths;
  /** Names (not values) of the variables that the agent keeps besides those of its pane. */
  readonly keptVariables: readonly string[];
  /** FIFOs that hear of the end, besides `ready`. */
  readonly bells: readonly string[];
  /** A pane, of tmux or iTerm2, shows its end and can be held open; a process without one has its log file. */
  readonly surface: "pane" | "log";
}

/**
 * The script that a teammate's place runs, as `/bin/sh <script> outer <instance> <program> <argument>…`. POSIX sh; it
 * holds no secret, so its file may stay. `outer` is what the terminal's end reaches and dies of it; `inner` outlives
 * that, and all but SIGKILL: it records how the program ended, rings, and holds a crashed pane for a person.
 */
export function launchScript(input: LaunchScriptInput): string {
  const { agentId, cwd, paths, bells, surface } = input;
  const kept = input.keptVariables.filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  return `#!/bin/sh
# Runs one agent, records how it ended, and rings those who wait for it.
agent=${shellQuote(agentId)}
directory=${shellQuote(cwd)}
run=${shellQuote(paths.run)}
lifeline=${shellQuote(paths.lifeline)}
log=${shellQuote(surface === "log" ? paths.log : "")}
kept=${shellQuote(` ${kept.join(" ")} `)}
${ringAll([paths.ready, ...bells])}
${BODY}`;
}

/** The words that start it. Several words are executed as they are, whatever the user's default shell is. */
export function launchArgv(paths: AgentPaths, instance: string, argv: readonly string[]): string[] {
  return ["/bin/sh", paths.launchScript, "outer", instance, ...argv];
}

function ringAll(fifos: readonly string[]): string {
  return ["ring_all() {", ...fifos.map((fifo) => `  ring ${shellQuote(fifo)}`), "}"].join("\n");
}

const BODY = String.raw`
newline='
'
role=$1
instance=$2
shift 2

if [ "$role" = outer ]; then
  # HUP and TERM keep their default here: the terminal's end must end this process.
  trap : INT QUIT
  /bin/sh "$0" inner "$instance" "$@"
  exit $?
fi

# Opened for both directions a FIFO never blocks, and the byte is lost when nobody listens.
ring() {
  [ -p "$1" ] && printf . 1<>"$1"
}

# What the server's environment adds to the caller's does not belong to the agent.
drop_leftovers() {
  set -f
  IFS=$newline
  for line in $(export -p); do
    case $line in
      "export "*) name=${"$"}{line#export } ;;
      "declare -x "*) name=${"$"}{line#declare -x } ;;
      *) continue ;;
    esac
    name=${"$"}{name%%=*}
    case $name in
      "" | *[!A-Za-z0-9_]* | ${PANE_VARIABLES.join(" | ")}) continue ;;
    esac
    case $kept in
      *" $name "*) ;;
      *) command unset "$name" ;;
    esac
  done
  unset IFS line name
  set +f
}

# The last lines as JSON strings, blank ones at the end left out; what a person typed or a program of somebody else printed
# may hold a secret of the environment, which is in no record of ours.
as_json() {
  LC_ALL=C awk '
    BEGIN {
      for (name in ENVIRON) {
        value = ENVIRON[name]
        if (toupper(name) !~ /(KEY|TOKEN|SECRET|PASSWORD)$/ || length(value) < 8) continue
        # The longest first, so that none is left in half.
        for (i = ++count; i > 1 && length(secrets[i - 1]) < length(value); i--) secrets[i] = secrets[i - 1]
        secrets[i] = value
      }
    }
    function masked(text, i, at, done) {
      for (i = 1; i <= count; i++) {
        done = ""
        while ((at = index(text, secrets[i])) > 0) {
          done = done substr(text, 1, at - 1) "[secret]"
          text = substr(text, at + length(secrets[i]))
        }
        text = done text
      }
      return text
    }
    { $0 = masked($0) }
    { gsub(/\\/, "&&"); gsub(/"/, "\\\""); gsub(/[\001-\037\177]/, " "); lines[NR] = $0 }
    $0 !~ /^ *$/ { last = NR }
    END {
      first = last > 50 ? last - 49 : 1
      for (i = first; i <= last; i++) printf "%s\"%s\"", (i > first ? "," : ""), lines[i]
    }'
}

# Whether the alternate screen is on, which iTerm2 does not tell, and below that the last lines. The border above the pane
# still shows what its agent last said of itself; a hangup, Ctrl-C or a plain kill of a sound program is no crash.
ask_terminal() {
  case $code in
    129 | 130 | 143) state=exited ;;
    *) state=crashed ;;
  esac
  if [ -n "$TMUX_PANE" ]; then
    tmux -u if-shell -F -t "$TMUX_PANE" "#{==:#{pane_pid},$PPID}" \
      "display-message -p -t $TMUX_PANE '#{alternate_on}' ; capture-pane -p -J -S -100 -t $TMUX_PANE ;
       set-option -p -t $TMUX_PANE @teams_state $state"
  else
    echo 0 && it2 session read -s "${"$"}{ITERM_SESSION_ID##*:}"
  fi
}

# Sets shown and alternate, both empty when the pane is somebody else's by now. The epitaph comes through the terminal
# behind all that the program wrote: once the server shows it, the rest is there too.
look_at_pane() {
  shown= alternate= tries=0
  while [ "$tries" -lt 50 ]; do
    shown=$(ask_terminal) || {
      shown=
      return
    }
    case $shown in
      "" | *"$epitaph"*) break ;;
    esac
    tries=$((tries + 1))
  done
  alternate=${"$"}{shown%%"$newline"*}
  shown=${"$"}{shown#*"$newline"}
  shown=${"$"}{shown%"$epitaph"*}
}

# In milliseconds where this date has them, else in whole seconds.
now() {
  ms=$(date +%s%3N)
  case $ms in
    "" | *[!0-9]*) ms=$(date +%s)000 ;;
  esac
  printf %s "$ms"
}

# The signal that a code above 128 stands for; by its name, since the numbers differ between systems.
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

# Replaced whole, so that a reader never sees half of it; a team that is deleted does not come back.
record_exit() {
  (
    umask 077
    printf '{"instance":"%s","code":%d%s,"at":%s,"lastLines":[%s]}\n' \
      "$instance" "$1" "$(as_signal "$1")" "$(now)" "$2" >"$run/.exit.json.$$.tmp" &&
      mv -f "$run/.exit.json.$$.tmp" "$run/exit.json"
  )
}

# Gives the terminal back to people. Without flow control a stopped output goes on.
reset_terminal() {
  stty sane -ixon
}

leave_screen() {
  printf '\033[?1049l\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?25h\033[0m'
  [ "$alternate" = 1 ] && printf '%s\n' "$shown" | tail -n 20
  printf '\n%s: r + Enter starts it again, q + Enter closes this pane.\n' "$agent"
}

# Waits for a person: 0 to start again, 1 to close. Whole lines, since single keys fire on half-typed text; and no key
# but Enter ends the reading of one.
hold() {
  trap 'exit "$code"' HUP TERM
  modes=$(stty -g)
  stty intr undef quit undef susp undef eof undef
  failures=0
  while [ "$failures" -lt 3 ]; do
    if read -r answer; then
      failures=0
      # A Ctrl-C is a character of the line here, and so is half a name of a key.
      case $(printf %s "$answer" | tr -d '[:cntrl:]') in
        r | R) return 0 ;;
        q | Q) return 1 ;;
        ?*) printf 'r or q, and Enter.\n' ;;
      esac
    elif [ -t 0 ]; then
      failures=$((failures + 1))
    else
      return 1
    fi
  done
  return 1
}

# A shell reports a killed program on its own stderr, and would block there while the terminal's output is stopped.
exec 8>&2 2>/dev/null
drop_leftovers
[ -p "$lifeline" ] && exec 9<>"$lifeline"

while :; do
  trap : HUP INT QUIT TERM
  trap - TTOU TTIN
  if cd -- "$directory" 2>&8; then
    (exec 2>&8 8>&- 9<&- && exec "$@")
    code=$?
  else
    code=1
  fi
  if [ "$code" -eq 0 ]; then
    record_exit 0 ""
    ring_all
    exit 0
  fi
  if [ -n "$log" ]; then
    record_exit "$code" "$(tail -n 50 "$log" | as_json)"
    ring_all
    exit "$code"
  fi
  # A program that died in the middle may have left us in the background of its terminal.
  trap '' TTOU TTIN
  reset_terminal
  signal=$(signal_of "$code")
  epitaph="[ended with exit code $code]"
  [ -z "$signal" ] || epitaph="[ended by $signal]"
  printf '\r\n%s\n' "$epitaph"
  look_at_pane
  record_exit "$code" "$(printf '%s\n' "$shown" | as_json)"
  ring_all
  leave_screen
  hold || exit "$code"
  # Whoever was to hear of it may not have looked yet.
  mv -f "$run/exit.json" "$run/crash.json"
  # Not every sane gives the keys back.
  stty "$modes"
  stty sane
done
`;
