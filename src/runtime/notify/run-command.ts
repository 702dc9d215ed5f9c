import { StringDecoder } from "node:string_decoder";
import { messageOf } from "../../errors.ts";
import { runCommandGroup } from "../../os/process/command-group.ts";
import { redactText, secretsOf } from "../../os/redact.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { gridText } from "../../text/terminal-text.ts";
import { type NotifyPlace, notifyEnv } from "./notify-place.ts";

/** Time limit in milliseconds for the command, which only shows or sends a line. */
const TIMEOUT_MS = 10_000;
/** Maximum characters of the command's stderr in the text of a failure. */
const MAX_STDERR = 300;

/**
 * Runs a command of `teams.notify`, and passes the text as an argument, never as shell code. The text begins with a word, so it is
 * not read as an option.
 * @returns why the command failed; undefined if it succeeded. Never rejects.
 */
export async function runNotifyCommand(
  setting: string | readonly string[],
  text: string,
  place: NotifyPlace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [file = "", ...args] =
    typeof setting === "string" ? ["sh", "-c", setting, "teams", text] : [...setting, text];
  const env = notifyEnv(place);
  const decoder = new StringDecoder("utf8");
  let stderr = "";
  const command = {
    cwd: place.cwd,
    env,
    input: JSON.stringify(wellFormed({ team: place.ref.team, agent: place.agent, text })),
    timeoutMs: TIMEOUT_MS,
    signal,
    onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => {
      if (stream === "stderr" && stderr.length < MAX_STDERR) stderr += decoder.write(bytes);
    },
  };
  try {
    const { code, signal: ended, failure, message } = await runCommandGroup(file, args, command);
    if (failure === "timed-out") return `the command did not end within ${TIMEOUT_MS / 1000} s`;
    if (failure !== undefined) return message ?? "the command did not start";
    if (code === 0) return undefined;
    return [ended ?? `exit code ${code}`, errorText(stderr, place)].filter((part) => part !== "").join(": ");
  } catch (error) {
    // No system accepts some arguments, for example those with a NUL.
    return messageOf(error);
  }
}

/** Returns a program's stderr as one line that is safe to show. */
export function errorText(stderr: string, { env, settings }: NotifyPlace): string {
  const secrets = secretsOf({ ...env, ...settings().env });
  return shortened(gridText(redactText(stderr, secrets)), MAX_STDERR);
}
