import { Socket } from "node:net";
import { join } from "node:path";
import { TeamError } from "../../errors.ts";
import { belongsToPane } from "../../launch/agent-environment.ts";
import { launchArgv } from "../../launch/launch-script.ts";
import { after } from "../../os/clock.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { openOwnFifo } from "../../os/files/fifo.ts";
import { removeFile } from "../../os/files/fs.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { makeFifos } from "../../wakeup/fifo-bell.ts";
import type { SpawnRequest } from "../backend.ts";
import { sessionIdOf } from "./it2-cli.ts";

/** The process that accepted the start. */
export interface HandoverProcess {
  readonly pid: number;
  /** iTerm2's id of its session; undefined if the environment did not name one. */
  readonly session: string | undefined;
}

/** The start of one agent through a script that iTerm2 runs. */
interface Handover {
  /** The command for iTerm2. */
  readonly command: readonly string[];
  /**
   * Waits until the script runs, and sends it the environment and arguments.
   * @throws TeamError SPAWN_FAILED if it does not run in time
   */
  accepted(): Promise<HandoverProcess>;
  /** Removes the script and the FIFOs; a script that runs later finds nothing and exits. May be called twice. */
  close(): void;
}

/** Time limit in milliseconds from the new window to the script's first line: enough to start a shell on a busy machine. */
const ACCEPT_MS = 15_000;
/** The last line of the sent text. No value can imitate it: in a quoted value, the line would be part of a word. */
const END_MARK = "# whole";
const NEWLINE = "\n";
/** Maximum bytes of the first line: a process id and the name of a session. */
const MAX_HELLO = 256;

/** iTerm2's variables that name the session: the agent keeps its own values, not the caller's. */
export const SESSION_VARIABLES = ["ITERM_SESSION_ID", "ITERM_PROFILE"] as const;

/**
 * Prepares the start of an agent by iTerm2. iTerm2 starts programs in its own environment, with a command line that `ps` shows to every
 * user. The command line therefore names only a script. The script sends its process and session through one FIFO, reads
 * environment and arguments through a second one (they never touch the disk), and becomes the launch script.
 */
export async function prepareHandover(request: SpawnRequest): Promise<Handover> {
  const { runtime } = request.paths;
  const [script, hello, words] = ["iterm2.sh", "hello", "words"].map((name) => join(runtime, name)) as [
    string,
    string,
    string,
  ];
  const removeAll = (): void => [script, hello, words].forEach(removeFile);
  // Left over from an earlier start.
  removeAll();
  replaceFile(script, handoverScript(request.agentId, hello, words), { mode: 0o700, sync: false });
  await makeFifos([hello, words]);
  // Open both before the script runs, so its first line is not lost and its read finds a writer.
  const incoming = new Socket({ fd: openOwnFifo(hello).fd, readable: true, writable: false });
  const outgoing = new Socket({ fd: openOwnFifo(words).fd, readable: false, writable: true });
  const close = (): void => {
    incoming.destroy();
    outgoing.destroy();
    removeAll();
  };
  return {
    command: ["/bin/sh", script],
    async accepted() {
      const late = deadline(request.name);
      try {
        const process = await Promise.race([readHello(incoming, request.name), late.passed]);
        await Promise.race([writeAll(outgoing, startText(request)), late.passed]);
        return process;
      } finally {
        late.cancel();
        close();
      }
    },
    close,
  };
}

/** Returns the script, POSIX sh. It opens its reading end before it sends its first line, so the answer is not lost. */
function handoverScript(agentId: string, hello: string, words: string): string {
  return `#!/bin/sh
# Run by iTerm2: reports its process and session, then receives the command to run.
printf '\\033]0;%s\\007' ${shellQuote(agentId)}
exec 3<${shellQuote(words)} || exit 1
printf '%s %s\\n' "$$" "$ITERM_SESSION_ID" 1<>${shellQuote(hello)} || exit 1
words=$(cat <&3)
exec 3<&-
# If the writer was killed, the text is incomplete: do not run it.
case $words in
  *${shellQuote(`${NEWLINE}${END_MARK}`)}) eval "$words" ;;
esac
exit 1
`;
}

/** Returns, as POSIX sh, the environment without names that no shell can set, and the command of the launch script. */
function startText({ env, paths, instance, argv }: SpawnRequest): string {
  const own = new Set<string>(SESSION_VARIABLES);
  const exports = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || own.has(name) || belongsToPane(name)) return [];
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [`export ${name}=${shellQuote(value)}`] : [];
  });
  const command = ["exec", ...launchArgv(paths, instance, argv).map(shellQuote)].join(" ");
  return ["unset words", ...exports, command, END_MARK, ""].join(NEWLINE);
}

function readHello(incoming: Socket, name: string): Promise<HandoverProcess> {
  return new Promise((resolve, reject) => {
    let text = "";
    incoming.on("error", (cause) => reject(notAccepted(name, cause)));
    incoming.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const [, pid, session] = /^([1-9][0-9]{0,9}) (\S*)\n/.exec(text) ?? [];
      if (pid !== undefined) resolve({ pid: Number(pid), session: sessionIdOf(session) });
      else if (text.includes("\n") || text.length > MAX_HELLO) reject(notAccepted(name));
    });
  });
}

/** Resolves once the whole text is in the pipe: the reader gets it even if this process dies now. */
function writeAll(outgoing: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.write(text, () => resolve());
  });
}

function deadline(name: string): { readonly passed: Promise<never>; cancel(): void } {
  let cancel = (): void => undefined;
  const passed = new Promise<never>((_, reject) => {
    cancel = after(ACCEPT_MS, () => reject(notAccepted(name)));
  });
  return { passed, cancel };
}

function notAccepted(name: string, cause?: unknown): TeamError {
  const message = `iTerm2 opened a window for ${name}, but its command did not start within ${ACCEPT_MS / 1000} s.`;
  return new TeamError("SPAWN_FAILED", message, {
    hint: "Look for an error in that window, then close it. Nothing else was left behind.",
    cause,
  });
}
