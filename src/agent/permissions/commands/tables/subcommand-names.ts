/**
 * Names of the same subcommand, by program. Source: the help of npm 11, pnpm 9, Yarn 4, Bun 1.1, cargo 1.95, Subversion 1.14,
 * Mercurial 6, Helm 3, Homebrew 4 and tmux 3.5.
 */
const SAME: Readonly<Record<string, readonly string[]>> = {
  npm: [
    "install i in ins inst insta instal isnt isnta isntal isntall add",
    "ci clean-install ic install-clean isntall-clean",
    "uninstall un unlink remove rm r",
    "run run-script rum urn",
    "test t tst",
    "exec x",
    "update up upgrade udpate",
    "config c",
    "init create innit",
    "rebuild rb",
    "list ls la ll",
    "view v info show",
    "search s se find",
    "link ln",
    "adduser login add-user",
    "dist-tag dist-tags",
    "access author",
  ],
  pnpm: [
    "install i",
    "remove rm uninstall un",
    "test t tst",
    "update up upgrade",
    "run run-script",
    "list ls",
  ],
  yarn: ["upgrade up"],
  bun: ["install i", "add a", "remove rm"],
  svn: [
    "commit ci",
    "checkout co",
    "update up",
    "delete del remove rm",
    "move mv rename ren",
    "copy cp",
    "status stat st",
    "switch sw",
  ],
  hg: ["commit ci", "update up checkout co", "remove rm", "rename move mv", "copy cp"],
  helm: ["uninstall un del delete", "list ls"],
  brew: ["uninstall remove rm"],
  tmux: [
    "new-window neww",
    "split-window splitw",
    "pipe-pane pipep",
    "respawn-pane respawnp",
    "kill-pane killp",
    "kill-window killw",
  ],
  cargo: ["build b", "test t", "run r", "check c", "doc d", "remove rm"],
};

/** Programs that accept any unique start of a subcommand's name. */
const ABBREVIATES: ReadonlySet<string> = new Set("npm hg svn jj ip kubectl tmux gem bundle".split(" "));

/** Returns whether a word may be another name of a program's subcommand: `npm pub` publishes. */
function isSameSubcommand(program: string, wanted: string, word: string): boolean {
  if (word === "") return false;
  if (ABBREVIATES.has(program) && wanted.startsWith(word)) return true;
  const rows = Object.hasOwn(SAME, program) ? (SAME[program] ?? []) : [];
  return rows.some((row) => [wanted, word].every((name) => row.split(" ").includes(name)));
}

/** Options of git whose value is the next word. */
const GIT_VALUE =
  /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|super-prefix|config-env|attr-source|shallow-file))$/;

/** Returns the index of git's subcommand among the words after `git`; -1 without one. */
export function gitSubcommandAt(args: readonly string[]): number {
  return args.findIndex((word, at) => !word.startsWith("-") && !GIT_VALUE.test(args[at - 1] ?? ""));
}

/** A command, and how it may get words that the line does not show. */
interface Subcommand {
  readonly program: string;
  readonly args: readonly string[];
  /** It gets words from its input. */
  readonly getsInputWords: boolean;
  /** Text that only the shell knows. */
  readonly unknown: string;
}

/** Maximum number of a rule's words that are compared. */
const MAX_SUBCOMMANDS = 5;

/** Returns the words that may be subcommands. After the first one, an unknown word after an option is its value. */
function operandsOf({ program, args, unknown }: Subcommand): readonly string[] {
  const found: string[] = [];
  for (const [at, word] of args.entries()) {
    const before = args[at - 1] ?? "";
    const isValue =
      program === "git"
        ? GIT_VALUE.test(before)
        : before.startsWith("-") && found.length > 0 && word.includes(unknown);
    if (!word.startsWith("-") && !isValue) found.push(word);
    if (found.length > MAX_SUBCOMMANDS) break;
  }
  return found;
}

/** Returns whether a command may run the subcommand of a rule under another name, or by a word that the line does not show. */
export function mayBeSubcommand(wanted: readonly string[], command: Subcommand): boolean {
  const operands = operandsOf(command);
  let isOther = false;
  for (const [at, name] of wanted.slice(0, MAX_SUBCOMMANDS).entries()) {
    const word = operands[at];
    if (word === undefined) return command.getsInputWords;
    if (word.includes(command.unknown)) return true;
    if (word === name) continue;
    if (at > 0 || !isSameSubcommand(command.program, name, word)) return false;
    isOther = true;
  }
  return isOther;
}
