import { baseName } from "./runners.ts";

/** A word that sets a variable for the command after it. */
export const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/** Commands and keywords that run the words after them as a command. */
const WRAPPERS =
  /^(sudo|doas|pkexec|runuser|sg|env|command|builtin|exec|nohup|nice|ionice|chrt|taskset|setarch|prlimit|time|timeout|stdbuf|setsid|setpriv|unshare|nsenter|chroot|proot|fakeroot|firejail|bwrap|runcon|flock|strace|ltrace|valgrind|hyperfine|rlwrap|torsocks|proxychains4?|numactl|cgexec|faketime|eatmydata|cpulimit|systemd-run|dbus-run-session|start-stop-daemon|xvfb-run|xargs|gxargs|find|gfind|fd|fdfind|parallel|watch|watchexec|entr|busybox|toybox|script|unbuffer|chronic|caffeinate|arch|ssh|sshpass|su|tmux|screen|npx|bunx|nix-shell|cross-env|dotenv|hash|gdb|zargs|and|or|not|begin|noglob|nocorrect|repeat|-|then|do|else|elif|if|while|until|!)$/;

/** Programs that run the words after one of these subcommands as a command. */
const WRAPS_BY_SUBCOMMAND =
  /^(docker|podman|nerdctl|kubectl|oc|uv|poetry|pipenv|pdm|hatch|rye|conda|mamba|op|doppler|mise|direnv|bundle|nix|docker-compose|vagrant|perf|ip|toolbox|distrobox|flatpak)$/;
const RUNS_COMMAND = /^(exec|run|dlx|x|develop|shell|stat|record|enter|ssh)$/;

/** Subcommands of git that run their words. */
const RUNS_REST = /^(?:bisect|for-each-repo)$/;

/** Yields the indexes where a command may begin: the first word after assignments, and every word after a wrapper. */
export function* commandStarts(words: readonly string[]): Generator<number> {
  let start = 0;
  while (ASSIGNMENT.test(words[start] ?? "")) start += 1;
  const name = baseName(words[start] ?? "");
  const isWrapped =
    WRAPPERS.test(name) ||
    (/^(npm|pnpm|yarn)$/.test(name) && words.some((word) => /^(exec|dlx|x)$/.test(word))) ||
    (name === "git" && RUNS_REST.test(words[start + 1] ?? "")) ||
    (WRAPS_BY_SUBCOMMAND.test(name) && words.some((word) => RUNS_COMMAND.test(word)));
  yield start;
  // The absolute path of a program is a command wherever it is: `cp /bin/rm x`, `ld.so /bin/rm`.
  for (let i = start + 1; i < words.length; i += 1)
    if (isWrapped || PROGRAM_PATH.test(words[i] ?? "")) yield i;
}

/** Commands that change the directory of the shell. */
export const ENTERS: ReadonlySet<string> = new Set([
  ...["cd", "chdir", "pushd", "popd"],
  // Builtins of fish.
  ...["prevd", "nextd", "cdh"],
]);

/** Returns the index of the word that changes the directory of the shell (`cd`); undefined if none does. */
export function enteringAt(words: readonly string[]): number | undefined {
  for (const at of commandStarts(words)) if (ENTERS.has(words[at] ?? "")) return at;
  return undefined;
}

export function changesDirectory(words: readonly string[]): boolean {
  return enteringAt(words) !== undefined;
}

/** Returns whether a command only changes the directory: `cd x`, `command cd x`. */
export function onlyEnters([first = "", second = ""]: readonly string[]): boolean {
  return ENTERS.has(first) || (/^(?:command|builtin)$/.test(first) && ENTERS.has(second));
}

/** Programs that append words from their input to the command that they run. */
export const APPENDS_INPUT = /(?:^|\/)(?:g?xargs|parallel)$/;

/** Maximum number of words of one command that may begin a program of some kind: the words after each of them are read again. */
const MAX_STARTS = 20;

/** Returns the words from each index where a command with a matching name may begin, for the first MAX_STARTS of them. */
export function commandsNamed(words: readonly string[], name: RegExp): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  for (const at of commandStarts(words)) {
    if (!name.test(baseName(words[at] ?? ""))) continue;
    found.push(words.slice(at));
    if (found.length >= MAX_STARTS) break;
  }
  return found;
}

const PROGRAM_PATH = /^\/(?:[^/]+\/)*s?bin\/[^/]+$/;
