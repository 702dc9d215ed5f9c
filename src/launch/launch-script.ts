import type { AgentPaths } from "../protocol/paths.ts";
import { shellQuote } from "../text/shell-quote.ts";
import { PANE_VARIABLES } from "./agent-environment.ts";
import { LEAVE_SESSION } from "./leave-session.ts";
import { RECORD_EXIT } from "./record-exit.ts";
import { startCheck } from "./start-check.ts";

export interface LaunchScriptInput {
  /** Shown in the pane after a crash. */
  readonly agentId: string;
  readonly cwd: string;
  readonly paths: AgentPaths;
  /** Names (not values) of the variables that the agent keeps in addition to those of its pane. */
  readonly keptVariables: readonly string[];
  /** FIFOs to ring at the end, in addition to `ready`. */
  readonly bells: readonly string[];
  /** A pane (tmux or iTerm2) shows a crash and stays open; a process without a pane has its log file. */
  readonly surface: "pane" | "log";
}

/**
 * Returns the script that starts a teammate, run as `/bin/sh <script> outer <instance> <program> <argument>…`. POSIX sh; it
 * contains no secret, so its file may stay. `outer` dies with the terminal. `inner` survives that, and every signal except SIGKILL:
 * it records how the program ended, rings the bells and keeps a crashed pane open for the user. If the record cannot be written (a
 * full disk), it still rings, and retries; while a pane waits for the user, until it succeeds. Both refuse any start but their own.
 */
export function launchScript(input: LaunchScriptInput): string {
  const { agentId, cwd, paths, bells, surface } = input;
  const kept = input.keptVariables.filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  return `#!/bin/sh
# Runs one agent, records how it ended, and rings the waiting processes.
agent=${shellQuote(agentId)}
directory=${shellQuote(cwd)}
run=${shellQuote(paths.run)}
lifeline=${shellQuote(paths.lifeline)}
log=${shellQuote(surface === "log" ? paths.log : "")}
kept=${shellQuote(` ${kept.join(" ")} `)}
${startCheck(agentId)}
${ringAll([paths.ready, ...bells])}
${BODY}`;
}

/** Returns the command that runs the script. tmux executes several words directly, without the user's default shell. */
export function launchArgv(paths: AgentPaths, instance: string, argv: readonly string[]): string[] {
  return ["/bin/sh", paths.launchScript, "outer", instance, ...argv];
}

/** Also touches the directory of all agents: a teammate that watches it then rewrites the status line. */
function ringAll(fifos: readonly string[]): string {
  const rings = fifos.map((fifo) => `  ring ${shellQuote(fifo)}`);
  return ["ring_all() {", ...rings, '  touch -c "$run/.." 2>/dev/null', "}"].join("\n");
}

const BODY = String.raw`
newline='
'
role=$1
instance=$2
shift 2

if [ "$role" = outer ]; then
  is_own_start "$$" || refuse_start
  # HUP and TERM keep their default action: this process must end with the terminal.
  trap : INT QUIT
  /bin/sh "$0" inner "$instance" "$@"
  exit $?
fi
is_own_start "$PPID" || refuse_start

# Rings without waiting: with nonblock, dd fails at once if no process reads the FIFO, or if the FIFO is full and so has already rung.
# The dd of macOS lacks that flag: there a background process writes, and waits at most two seconds for the reader of a full FIFO. It
# must survive the terminal, which may end before it runs its first command, so it inherits that HUP is ignored.
ring() {
  [ -p "$1" ] || return 0
  [ -n "$nonblock" ] || nonblock=$(dd if=/dev/null of=/dev/null oflag=nonblock && echo yes || echo no)
  if [ "$nonblock" = yes ]; then
    printf . 8>&- 9<&- | dd of="$1" oflag=nonblock conv=nocreat,notrunc 8>&- 9<&-
  else
    trap '' HUP
    (
      printf . 1<>"$1" &
      sleep 2
      kill "$!"
    ) </dev/null >/dev/null 8>&- 9<&- &
    trap "$on_hangup" HUP
  fi
}

# Unsets variables that come from the tmux server's environment instead of the caller's.
unset_server_variables() {
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

# Prints the last lines as JSON strings, without blank lines at the end. Redacts values of secret variables and the credentials of
# proxies, which typed input or the output of a program may contain.
as_json() {
  LC_ALL=C awk '
    BEGIN {
      for (name in ENVIRON) {
        value = ENVIRON[name]
        if (toupper(name) ~ /(KEY|TOKEN|SECRET|PASSWORD)$/) add(value)
        if (toupper(name) !~ /(^|_)PROXY$/ || value !~ /@/) continue
        sub(/^[A-Za-z][A-Za-z0-9+.-]*:[\/][\/]/, "", value)
        add(value)
        sub(/@[^@]*$/, "", value)
        add(value)
        sub(/^[^:]*:/, "", value)
        add(value)
      }
    }
    # Longest first, so that no part of a longer secret remains.
    function add(value, i) {
      if (length(value) < 8) return
      for (i = ++count; i > 1 && length(secrets[i - 1]) < length(value); i--) secrets[i] = secrets[i - 1]
      secrets[i] = value
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
    # tmux 3.2 pads captured rows.
    { $0 = masked($0); sub(/ +$/, "") }
    { gsub(/\\/, "&&"); gsub(/"/, "\\\""); gsub(/[\001-\037\177]/, " "); lines[NR] = $0 }
    $0 !~ /^ *$/ { last = NR }
    END {
      first = last > 50 ? last - 49 : 1
      for (i = first; i <= last; i++) printf "%s\"%s\"", (i > first ? "," : ""), lines[i]
    }'
}

# Prints whether the alternate screen is on (always 0 for iTerm2), then the last lines of the screen. Also replaces the agent's
# last state in the border of the pane, and removes its tasks, which are unassigned now; an end by hangup, Ctrl-C or SIGTERM is not
# a crash.
ask_terminal() {
  case $code in
    129 | 130 | 143) state=exited ;;
    *) state=crashed ;;
  esac
  if [ -n "$TMUX_PANE" ]; then
    tmux -u if-shell -F -t "$TMUX_PANE" "#{==:#{pane_pid},$PPID}" \
      "display-message -p -t $TMUX_PANE '#{alternate_on}' ; capture-pane -p -J -S -100 -t $TMUX_PANE ;
       set-option -p -t $TMUX_PANE @teams_state $state ; set-option -p -u -t $TMUX_PANE @teams_task"
  else
    echo 0 && it2 session read -s "${"$"}{ITERM_SESSION_ID##*:}"
  fi
}

# Sets shown and alternate; both are empty if the pane now belongs to another process. The terminal processes the end line
# after all output of the program: once the screen shows it, the output is complete.
read_screen() {
  shown= alternate= tries=0
  while [ "$tries" -lt 50 ]; do
    shown=$(ask_terminal) || {
      shown=
      return
    }
    case $shown in
      "" | *"$end_line"*) break ;;
    esac
    tries=$((tries + 1))
  done
  alternate=${"$"}{shown%%"$newline"*}
  shown=${"$"}{shown#*"$newline"}
  shown=${"$"}{shown%"$end_line"*}
}

${RECORD_EXIT}

# Makes the terminal usable for the user. Disabling flow control resumes stopped output.
reset_terminal() {
  stty sane -ixon
}

leave_screen() {
  printf '\033[?1049l\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?25h\033[0m'
  [ "$alternate" = 1 ] && printf '%s\n' "$shown" | tail -n 20
  printf '\n%s: r + Enter starts it again, q + Enter closes this pane.\n' "$agent"
}

# Waits for the user: returns 0 to start again, 1 to close. Reads whole lines, because half-typed text must not trigger an action;
# only Enter ends a line.
hold() {
  trap 'stop_recording; exit "$code"' HUP TERM
  modes=$(stty -g)
  stty intr undef quit undef susp undef eof undef
  failures=0
  while [ "$failures" -lt 3 ]; do
    if read -r answer; then
      failures=0
      # Drop control characters: Ctrl-C and parts of key sequences are part of the line here.
      case $(printf %s "$answer" | tr -d '[:cntrl:]') in
        r | R) return 0 ;;
        q | Q) return 1 ;;
        ?*) printf 'Type r or q, then Enter.\n' ;;
      esac
    elif [ -t 0 ]; then
      failures=$((failures + 1))
    else
      return 1
    fi
  done
  return 1
}

${LEAVE_SESSION}
# The shell reports a killed program on its stderr, and would block there while the terminal's output is stopped (Ctrl-S).
exec 8>&2 2>/dev/null
nonblock=
unset_server_variables
[ -p "$lifeline" ] && exec 9<>"$lifeline"

on_hangup=:
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
    record_last 0 ""
    ring_all
    leave_session
    keep_zoom
    exit 0
  fi
  if [ -n "$log" ]; then
    record_last "$code" "$(tail -n 50 "$log" | as_json)"
    ring_all
    exit "$code"
  fi
  # A killed program may have left this process in a background process group of the terminal.
  trap '' TTOU TTIN
  reset_terminal
  signal=$(signal_of "$code")
  end_line="[ended with exit code $code]"
  [ -z "$signal" ] || end_line="[ended by $signal]"
  printf '\r\n%s\n' "$end_line"
  read_screen
  record_waiting "$code" "$(printf '%s\n' "$shown" | as_json)"
  ring_all
  leave_screen
  hold || {
    stop_recording
    leave_session
    keep_zoom
    exit "$code"
  }
  stop_recording
  # Keep the record for processes that have not read it yet.
  mv -f "$run/exit.json" "$run/crash.json"
  # On some systems, "stty sane" does not restore the keys.
  stty "$modes"
  stty sane
done
`;
