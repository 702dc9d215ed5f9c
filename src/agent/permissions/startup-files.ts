import { sep } from "node:path";

/**
 * A name as a file system may compare it that takes no notice of case, nor of how a letter is put together: to one `.ſsh` is `.ssh`.
 */
export function foldedName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}

interface StartupFiles {
  /** Who reads them, and runs what they say: `${path} is read by ${reader}`. */
  readonly reader: string;
  /**
   * In lower case, at any depth: a name, also with the directories right above it, with one `*` for any text; what ends in `/` is all
   * below that directory.
   */
  readonly files: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Files that run commands as the person at a moment that no agent chose: a shell's or a session's start, a prompt, a login, a call of
 * git. By what reads them, from the manual of each.
 */
const STARTUP_FILES: readonly StartupFiles[] = [
  {
    reader: "shells when they start or end",
    files: words(`
      .profile .login .logout .shrc .shinit .ashrc .inputrc .editrc
      .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion
      .zshrc .zshenv .zprofile .zlogin .zlogout
      .kshrc .mkshrc .cshrc .tcshrc .yashrc .yash_profile .config/yash/
      fish/config.fish fish/conf.d/ fish/functions/*.fish fish/completions/*.fish
      .config/nushell/ application-support/nushell/
      .elvish/ .config/elvish/ .xonshrc .config/xonsh/
      .config/powershell/ powershell/*profile.ps1
    `),
  },
  { reader: "shells when they change to a directory", files: words(".envrc .direnvrc .config/direnv/") },
  {
    reader: "a session when it starts",
    files: words(`
      .pam_environment .config/environment.d/ .xprofile .xinitrc .xserverrc .xsession .xsessionrc
      .config/autostart/ .config/systemd/user/ .local/share/systemd/user/
      library/launchagents/ .config/plasma-workspace/
    `),
  },
  { reader: "git's hooks, which run what they find there", files: words(".husky/") },
  { reader: "editors, which run what they find there", files: words(".vscode/ .idea/ .zed/") },
  { reader: "git, which runs what it names", files: words(".gitconfig .config/git/") },
  { reader: "ssh, and says who may log in", files: words(".ssh/") },
  {
    reader: "a terminal multiplexer when it starts",
    files: words(".tmux.conf .config/tmux/ .screenrc .config/zellij/"),
  },
];

/** Who reads a file at a moment of its own and runs what it says; undefined where nobody does. @param path absolute and normal */
export function startupReader(path: string): string | undefined {
  // Blanks are what the table is parted by.
  const parts = foldedName(path).replaceAll(" ", "-").split(sep);
  return STARTUP_FILES.find(({ files }) => files.some((file) => matchesFile(parts, file)))?.reader;
}

function matchesFile(parts: readonly string[], file: string): boolean {
  const wanted = file.split("/");
  // Of a directory the last is empty: anything below it.
  if (wanted.at(-1) === "") {
    const above = wanted.slice(0, -1);
    return parts.some(
      (_, i) => i + above.length < parts.length && above.every((name, j) => parts[i + j] === name),
    );
  }
  const last = parts.slice(-wanted.length);
  return last.length === wanted.length && wanted.every((name, i) => matchesName(last[i] ?? "", name));
}

function matchesName(name: string, wanted: string): boolean {
  const [front = "", back] = wanted.split("*");
  if (back === undefined) return name === wanted;
  return name.length >= front.length + back.length && name.startsWith(front) && name.endsWith(back);
}
