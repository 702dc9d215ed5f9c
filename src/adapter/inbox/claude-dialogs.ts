import { dirname, join } from "node:path";
import type { Env } from "../../os/env.ts";
import { readText } from "../../os/files/fs.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { textEnd } from "../../text/characters/cut-text.ts";
import type { ChannelDialog } from "../channel.ts";
import { fieldsOf } from "../reported-values.ts";

/** Number of final characters of a key under which claude records a person's answer. */
const KEY_END = 20;

/**
 * Returns the dialog that claude shows at its start, according to its record of a person's answers; undefined if none is known. Does not
 * read the screen.
 * @param env the environment of claude
 */
export function expectedDialog(env: Env, cwd: string, mode: PermissionMode): ChannelDialog | undefined {
  const answers = answersOf(env);
  // A missing file means a first start, or another version that keeps it elsewhere.
  if (answers === undefined) return undefined;
  const { hasCompletedOnboarding, projects, customApiKeyResponses, bypassPermissionsModeAccepted } = answers;
  if (hasCompletedOnboarding !== true)
    return { name: "its first-start dialog", remedy: "choose a theme and log in" };
  const key = env.ANTHROPIC_API_KEY;
  const { approved, rejected } = fieldsOf(customApiKeyResponses);
  const answered = [approved, rejected].flatMap((list) => (Array.isArray(list) ? list : []));
  if (key && !answered.includes(textEnd(key, KEY_END)))
    return { name: "the API key dialog", remedy: "answer whether it may use the key in the environment" };
  if (!isTrusted(fieldsOf(projects), cwd))
    return { name: "the directory trust dialog", remedy: `answer whether it may work in ${cwd}` };
  if (mode === "bypassPermissions" && bypassPermissionsModeAccepted !== true)
    return { name: "the bypass permissions dialog", remedy: "accept the mode, or choose another one" };
  return undefined;
}

/** Whether a directory is trusted: trust in a directory covers its subdirectories. */
function isTrusted(projects: Readonly<Record<string, unknown>>, directory: string): boolean {
  if (fieldsOf(projects[directory]).hasTrustDialogAccepted === true) return true;
  const parent = dirname(directory);
  return parent !== directory && isTrusted(projects, parent);
}

/** Reads claude's own file with a person's answers; undefined if it is missing or incomplete. */
function answersOf(env: Env): Readonly<Record<string, unknown>> | undefined {
  const directory = env.CLAUDE_CONFIG_DIR || env.HOME;
  const text = directory === undefined ? undefined : readText(join(directory, ".claude.json"));
  try {
    return text === undefined ? undefined : fieldsOf(JSON.parse(text));
  } catch {
    // claude is writing the file: the next read finds it complete.
    return undefined;
  }
}
