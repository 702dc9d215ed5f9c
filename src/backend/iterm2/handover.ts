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

/** Who took over. */
export interface HandoverProcess {
  readonly pid: number;
  /** Undefined where iTerm2 did not tell its session. */
  readonly session: string | undefined;
}

/** The start of one agent, put down for a program that iTerm2 runs. */
interface Handover {
  /** What iTerm2 is to run. */
  readonly words: readonly string[];
  /**
   * Waits until it runs, and gives it its environment and arguments.
   * @throws TeamError SPAWN_FAILED when nobody takes them in time
   */
  accepted(): Promise<HandoverProcess>;
  /** Takes away what was put down; who comes later finds nothing and ends. May be called twice. */
  close(): void;
}

/** Milliseconds from the window that is there to its program's first word: a shell's start on a busy machine. */
const ACCEPT_MS = 15_000;
/** The last line, which no value can make up: an open quote would make it part of a word that goes on. */
const END_MARK = "# whole";
const NEWLINE = "\n";
/** A process id, a session's name, and nothing else. */
const MAX_HELLO = 256;

/** Of iTerm2's variables those that name the session: the agent has its own, not its caller's. */
export const SESSION_VARIABLES = ["ITERM_SESSION_ID", "ITERM_PROFILE"] as const;

/**
 * iTerm2 starts programs in its own environment and by a line that everybody can read with `ps`. So the line names a script
 * alone, which says who it is through one FIFO, reads environment and arguments through another, where they touch no disk,
 * and becomes the launch script.
 */
export async function prepareHandover(request: SpawnRequest): Promise<Handover> {
  const { runtime } = request.paths;
  const [script, hello, words] = ["iterm2.sh", "hello", "words"].map((name) => join(runtime, name)) as [
    string,
    string,
    string,
  ];
  const removeAll = (): void => [script, hello, words].forEach(removeFile);
  // What an earlier start left there is nobody's any more.
  removeAll();
  replaceFile(script, handoverScript(request.agentId, hello, words), { mode: 0o700, sync: false });
  await makeFifos([hello, words]);
  // Both before anything runs: the script's first word is not lost, and it finds a writer.
  const ear = new Socket({ fd: openOwnFifo(hello).fd, readable: true, writable: false });
  const mouth = new Socket({ fd: openOwnFifo(words).fd, readable: false, writable: true });
  const close = (): void => {
    ear.destroy();
    mouth.destroy();
    removeAll();
  };
  return {
    words: ["/bin/sh", script],
    async accepted() {
      const late = deadline(request.name);
      try {
        const taker = await Promise.race([readHello(ear, request.name), late.passed]);
        await Promise.race([writeAll(mouth, startWords(request)), late.passed]);
        return taker;
      } finally {
        late.cancel();
        close();
      }
    },
    close,
  };
}

/** POSIX sh. The reading end is open before it says a word, so that what is written then is not lost. */
function handoverScript(agentId: string, hello: string, words: string): string {
  return `#!/bin/sh
# Run by iTerm2: says which process and session it is, and takes what it is to run.
printf '\\033]0;%s\\007' ${shellQuote(agentId)}
exec 3<${shellQuote(words)} || exit 1
printf '%s %s\\n' "$$" "$ITERM_SESSION_ID" 1<>${shellQuote(hello)} || exit 1
words=$(cat <&3)
exec 3<&-
# Half of it is worth nothing: whoever wrote it is gone.
case $words in
  *${shellQuote(`${NEWLINE}${END_MARK}`)}) eval "$words" ;;
esac
exit 1
`;
}

/** The caller's environment but for names that no shell can set, then the launch script. */
function startWords({ env, paths, instance, argv }: SpawnRequest): string {
  const own = new Set<string>(SESSION_VARIABLES);
  const exports = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || own.has(name) || belongsToPane(name)) return [];
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? [`export ${name}=${shellQuote(value)}`] : [];
  });
  const command = ["exec", ...launchArgv(paths, instance, argv).map(shellQuote)].join(" ");
  return ["unset words", ...exports, command, END_MARK, ""].join(NEWLINE);
}

function readHello(ear: Socket, name: string): Promise<HandoverProcess> {
  return new Promise((resolve, reject) => {
    let text = "";
    ear.on("error", (cause) => reject(notAccepted(name, cause)));
    ear.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const [, pid, session] = /^([1-9][0-9]{0,9}) (\S*)\n/.exec(text) ?? [];
      if (pid !== undefined) resolve({ pid: Number(pid), session: sessionIdOf(session) });
      else if (text.includes("\n") || text.length > MAX_HELLO) reject(notAccepted(name));
    });
  });
}

/** Resolves once all of it is in the pipe: whoever has that open for reading gets it, also when we are gone. */
function writeAll(mouth: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    mouth.once("error", reject);
    mouth.write(text, () => resolve());
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
  const message = `iTerm2 opened a window for ${name}, but what it was to run in it did not begin within ${ACCEPT_MS / 1000} s.`;
  return new TeamError("SPAWN_FAILED", message, {
    hint: "Look at that window; it can be closed. Nothing else was left.",
    cause,
  });
}
