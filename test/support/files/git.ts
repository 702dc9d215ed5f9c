import { execFileSync } from "node:child_process";

/**
 * The identity that git needs to commit, without the user's settings: a global hook or commit signing would
 * interfere.
 */
export const GIT_IDENTITY = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

/** Runs git in a directory with that identity, and with English messages. @returns the trimmed output */
export function git(directory: string, ...words: readonly string[]): string {
  const env = { ...process.env, ...GIT_IDENTITY, LC_ALL: "C" };
  return execFileSync("git", ["-C", directory, ...words], { env, encoding: "utf8", stdio: "pipe" }).trim();
}
