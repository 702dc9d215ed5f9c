import { TmuxError } from "./error.ts";

/** A tmux version; `3.3a` is 3.3, `next-3.5` is 3.5. A build without a number counts as the newest. */
export interface TmuxVersion {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
}

/** Oldest supported tmux: it has `source-file -`, `new-window -e` and `if-shell -F` on panes. */
export const OLDEST_TMUX = { major: 3, minor: 2 } as const;

export function parseVersion(text: string): TmuxVersion {
  const match = /(\d+)\.(\d+)/.exec(text);
  const trimmed = text.trim().replace(/^tmux /, "");
  // master and OpenBSD's builds have no release number; they are newer than 3.2.
  if (match === null || trimmed.startsWith("openbsd")) return { text: trimmed, major: Infinity, minor: 0 };
  return { text: trimmed, major: Number(match[1]), minor: Number(match[2]) };
}

export function isAtLeast(version: TmuxVersion, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** @throws TmuxError if the version is older than 3.2 */
export function requireSupported(version: TmuxVersion): void {
  if (isAtLeast(version, OLDEST_TMUX.major, OLDEST_TMUX.minor)) return;
  throw new TmuxError({
    kind: "too-old",
    message: `tmux ${version.text} is too old; nothing was started.`,
    hint: `Install tmux ${OLDEST_TMUX.major}.${OLDEST_TMUX.minor} or newer.`,
    done: "nothing",
    facts: { version: version.text },
  });
}
