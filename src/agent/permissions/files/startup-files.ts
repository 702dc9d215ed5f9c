import { sep } from "node:path";
import { foldedName } from "../../../text/folded-name.ts";
import type { JoinedPaths } from "../commands/joined-paths.ts";
import { hasWildcard, namesMeet, unescaped } from "../commands/pattern-meetings.ts";

interface StartupFiles {
  /** They are often values of variables, such as PATH and KUBECONFIG. */
  readonly areValues?: boolean;
  /** The program that reads the files and runs commands from them, as the end of `${path} is read by ${reader}`. */
  readonly reader: string;
  /**
   * Names in lower case, matched at any depth, some with their parent directories. One `*` is any text; a name that ends in `/`
   * covers everything below that directory.
   */
  readonly files: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Files whose commands run as the user at a moment that no agent chose: the start of a shell or session, a prompt, a login, a
 * call of git. Grouped by the program that reads them, according to its manual.
 */
const STARTUP_FILES: readonly StartupFiles[] = [
  {
    reader: "shells when they start or end",
    files: words(`
      .profile .login .logout .shrc .shinit .ashrc .inputrc .editrc
      .bashrc.d/ .zshrc.d/ .profile.d/
      .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion
      .zshrc .zshenv .zprofile .zlogin .zlogout
      .kshrc .mkshrc .cshrc .tcshrc .yashrc .yash_profile .config/yash/
      fish/config.fish fish/fish_variables fish/conf.d/ fish/functions/*.fish fish/completions/*.fish
      .local/share/bash-completion/ .fzf.bash .fzf.zsh .p10k.zsh .config/starship.toml
      .config/nushell/ application-support/nushell/
      .elvish/ .config/elvish/ .xonshrc .config/xonsh/
      .config/powershell/ powershell/*profile.ps1
    `),
  },
  {
    reader: "shells when they change to a directory",
    files: words(`
      .envrc .direnvrc .config/direnv/ .direnv/
      .mise* mise.toml mise.local.toml .mise/ .config/mise/ .tool-versions
    `),
  },
  { areValues: true, reader: "shells, which find programs in it", files: words(".local/bin/") },
  {
    reader: "a session when it starts",
    files: words(`
      .pam_environment .config/environment.d/ .xprofile .xinitrc .xserverrc .xsession .xsessionrc
      .config/autostart/ .config/systemd/user/ .local/share/systemd/user/
      library/launchagents/ .config/plasma-workspace/
    `),
  },
  {
    reader: "git's hooks, which run commands from it",
    files: words(`
      .husky/ .pre-commit-config.yaml .pre-commit-config.yml
      lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml
      lefthook-local.yml .lefthook-local.yml
    `),
  },
  {
    reader: "editors, which can run commands from it",
    files: words(`
      .vscode/ .idea/ .zed/ .devcontainer/ .devcontainer.json *.code-workspace
      .vimrc .gvimrc _vimrc .exrc .nexrc .nvimrc .nvim.lua .vim/ .config/nvim/ nvim/init.vim nvim/init.lua
      .emacs .emacs.d/ .config/emacs/ .dir-locals.el
    `),
  },
  {
    reader: "another agent, which can run commands from it",
    files: words(`
      .claude.json .agents/ .gemini/ .codex/ .opencode/ .config/opencode/ opencode.json opencode.jsonc .cursor/
      .aider.conf.yml .roo/ .kiro/ .continue/ .windsurf/ .qwen/settings.json .qwen/extensions/ crush.json .crush.json
      .kilocode/mcp.json .factory/mcp.json .factory/settings*.json .amazonq/ .github/hooks/
    `),
  },
  {
    areValues: true,
    reader: "shells, which load functions or find programs in it",
    files: words(`
      .bash_functions .bash.d/ .zsh/ .zfunc/ .oh-my-zsh/ .cargo/bin/ .cargo/env .nvm/ .pyenv/ .rbenv/ .asdf/ .asdfrc .volta/
      .sdkman/ .deno/bin/ .bun/bin/ .local/lib/
    `),
  },
  {
    reader: "a build tool or package manager, which can run commands from it",
    files: words(`
      .cargo/config .cargo/config.toml .bundle/config .gemrc .gradle/init.gradle .gradle/init.d/ .gradle/gradle.properties
      .mvn/ .m2/settings.xml .pip/ .config/pip/ .pypirc .condarc
    `),
  },
  {
    areValues: true,
    reader: "a client of a service, which finds logins, programs or options in it",
    files: words(`
      .curlrc .wgetrc .netrc .gnupg/ .aws/config .aws/credentials .kube/config .docker/config.json .config/gh/ .config/gcloud/
      .my.cnf .muttrc .config/mutt/
    `),
  },
  {
    reader: "a program of the terminal or the desktop, which can run commands from it",
    files: words(`
      .lessfilter .lesskey .mailcap .ripgreprc .wezterm.lua .config/wezterm/ .config/kitty/ .config/alacritty/ .config/ghostty/
      .config/i3/ .config/sway/ .config/hypr/ .config/helix/ .config/bat/ .config/lazygit/ .config/code/user/
      .local/share/applications/ .tigrc .config/tig/ .config/yazi/ .config/lf/ .config/ranger/ .xbindkeysrc
      .config/sxhkd/ .xmonad/ .config/bspwm/ .config/awesome/ .config/qtile/ .config/waybar/ .config/polybar/ .config/rofi/
      .hammerspoon/ .config/karabiner/ .yabairc .skhdrc
    `),
  },
  { reader: "a debugger when it starts", files: words(".gdbinit .lldbinit .config/gdb/") },
  {
    reader: "a package manager, which can run commands from it",
    files: words(".npmrc .yarnrc* .pnpmfile.cjs .yarn/plugins/ .yarn/releases/"),
  },
  {
    reader: "Mercurial or Jujutsu, which can run commands from it",
    files: words(
      ".hg/hgrc .hg/hgrc-not-shared .hgrc .config/hg/ .jj/repo/config.toml .jj/workspace-config.toml",
    ),
  },
  {
    reader: "an interpreter when it starts",
    files: words(`
      .rprofile .irbrc .pryrc .psqlrc .sqliterc .duckdbrc .pdbrc .ipython/ .jupyter/ .ghci .ocamlinit
      .iex.exs .julia/config/
    `),
  },
  { reader: "git, which can run commands from it", files: words(".gitconfig .config/git/") },
  { reader: "ssh, which can allow logins with it", files: words(".ssh/") },
  {
    reader: "a terminal multiplexer when it starts",
    files: words(".tmux.conf .tmux/ .config/tmux/ .screenrc .config/zellij/"),
  },
];

/**
 * Returns the program that reads this file and runs its commands; undefined if none does.
 * @param path absolute and normalized; a pattern, which may have wildcards
 * @param isValue only values of variables name it
 */
export function startupReader(path: string, isValue = false): string | undefined {
  const parts = partsOf(path);
  const rows = parts.some((part) => /[^\w.-]/.test(part)) ? ALL_FILES : rowsNaming(parts);
  return rows.find((row) => !(isValue && row.areValues) && matchesFile(parts, row.wanted))?.reader;
}

/** Like {@link startupReader}, for each name in each directory. The time is linear in the number of both. */
export function joinedReader({ directories, names }: JoinedPaths): string | undefined {
  const [above, below] = [directories.map(partsOf), names.map((name) => name.map(spelled))];
  const isJoined = (wanted: readonly string[]): boolean =>
    wanted.some((_, at) => {
      const [head, rest] = [wanted.slice(0, at), wanted.slice(at)];
      if (head.length === 0 || rest.join("") === "") return false;
      return (
        above.some((parts) => matchesAll(parts.slice(-at), head)) &&
        below.some((parts) => matchesStart(parts, rest))
      );
    });
  return SPLIT_FILES.find(({ files }) => files.some(isJoined))?.reader;
}

/** The table is split at whitespace, so its names have `-` for a space. */
const spelled = (name: string): string => foldedName(name).replaceAll(" ", "-");

const partsOf = (path: string): readonly string[] => spelled(path).split(sep);

/** The table with its names split once: a command line may have thousands of words to check. */
const SPLIT_FILES = STARTUP_FILES.map(({ reader, files, areValues = false }) => ({
  reader,
  areValues,
  files: files.map((file) => file.split("/")),
}));

/** The names of the table one by one, in its order. */
const ALL_FILES = SPLIT_FILES.flatMap(({ reader, files, areValues }) =>
  files.map((wanted) => ({ reader, wanted, areValues })),
);
type Row = (typeof ALL_FILES)[number];

/** The same by their first part without a star, or by an empty part if each part has a star: most words of a line match none. */
const BY_PART = new Map<string, Row[]>();
for (const row of ALL_FILES) {
  const part = row.wanted.find((name) => name !== "" && !name.includes("*")) ?? "";
  BY_PART.set(part, [...(BY_PART.get(part) ?? []), row]);
}

/** Returns the names of the table that have a part in common with a path without wildcards. */
function rowsNaming(parts: readonly string[]): readonly Row[] {
  const found = ["", ...parts].flatMap((part) => BY_PART.get(part) ?? []);
  return found.length < 2 ? found : ALL_FILES.filter((row) => found.includes(row));
}

/** Returns whether a pattern may match some name of the table, so that it matters which files exist. */
export function mayMatchStartupFile(pattern: string): boolean {
  const name = spelled(pattern);
  return SPLIT_FILES.some(({ files }) => files.some((file) => file.some((part) => namesMeet(name, part))));
}

function matchesFile(parts: readonly string[], wanted: readonly string[]): boolean {
  // The name of a directory ends in `/`, so its last part is empty.
  if (wanted.at(-1) === "") {
    const above = wanted.slice(0, -1);
    return parts.some(
      (_, i) => i + above.length < parts.length && above.every((name, j) => matchesName(parts[i + j], name)),
    );
  }
  return matchesAll(parts.slice(-wanted.length), wanted);
}

function matchesAll(parts: readonly string[], wanted: readonly string[]): boolean {
  return parts.length === wanted.length && wanted.every((name, i) => matchesName(parts[i], name));
}

function matchesStart(parts: readonly string[], wanted: readonly string[]): boolean {
  if (wanted.at(-1) !== "") return matchesAll(parts, wanted);
  return wanted.slice(0, -1).every((name, i) => matchesName(parts[i], name));
}

function matchesName(name: string | undefined, wanted: string): boolean {
  // This runs for each name of each word of a line, so it allocates no array.
  if (name === undefined) return false;
  const star = wanted.indexOf("*");
  if (name[0] === wanted[0] && isNarrow(name)) return namesMeet(name, wanted);
  if (star < 0) return name === wanted;
  const isLong = name.length >= wanted.length - 1;
  return isLong && name.startsWith(wanted.slice(0, star)) && name.endsWith(wanted.slice(star + 1));
}

/**
 * Returns whether a name is a pattern for few names, which count whether they exist or not: `opencode.jso?`, `ope*`. Of other
 * patterns, only the files that exist count.
 */
function isNarrow(name: string): boolean {
  const start = /^(?:\\.|[^\\*?[{(!@+])+/.exec(name)?.[0] ?? "";
  return hasWildcard(name) && (unescaped(start).length > 2 || (start !== "" && !/[*{(]/.test(name)));
}
