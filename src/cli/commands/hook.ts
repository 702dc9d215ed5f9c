import { HOOK_NAMES, type HookReport, reportOf } from "../../adapter/hook-report.ts";
import { untilTurnIsWritten } from "../../adapter/inbox/begun-turn.ts";
import { lastWordsOf } from "../../adapter/inbox/claude-transcript.ts";
import { EXIT, messageOf } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { agentIdentity } from "../../runtime/select-team.ts";
import { defined } from "../../schema/defined.ts";
import { addLastWords, readHook, writeHook } from "../../team/records/hook-record.ts";
import { startedIn, type TeamRef, teamsHome } from "../../team/ref.ts";
import type { Io } from "../../terminal/io.ts";
import { line } from "../../terminal/output.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import { defineCommand, usageError } from "../command.ts";

export const command = defineCommand({
  name: "hook",
  summary: "Record a hook event of a member's own CLI (its hooks call this)",
  args: [{ name: "event", summary: `${HOOK_NAMES.join(", ")}; its input is JSON on stdin` }],
  options: {},
  examples: [
    "teams hook --team review --as ada Stop < input.json",
    "echo '{}' | teams hook --team review --as ada SessionStart",
  ],
  notes:
    "A member that teams did not start gets its state from its hooks. A program that was adopted, or that joined, needs no " +
    "--team and --as. The command prints nothing on stdout and never blocks the CLI.",
  async run({ args, options, io, out }) {
    const event = HOOK_NAMES.find((hook) => hook === args.event);
    // Status 2 would make the CLI refuse its next action.
    try {
      const own = options.as === undefined ? agentIdentity(io.env) : undefined;
      const [team, name] = [options.team ?? own?.team, options.as ?? own?.name];
      if (event === undefined || team === undefined || name === undefined)
        throw usageError(command, "needs a known event, --team and --as.");
      const report = reportOf(event, await inputOf(io));
      if (report === undefined) return EXIT.done;
      await record(startedIn(teamsHome(io.env), team), name, io.env.TEAMS_INSTANCE, event, report);
      return EXIT.done;
    } catch (error) {
      out.note(line`${messageOf(error)}`);
      return EXIT.failed;
    }
  },
});

async function record(
  ref: TeamRef,
  name: string,
  instance: string | undefined,
  event: string,
  { lastWords, ...report }: HookReport,
): Promise<void> {
  const { bell } = ref.paths.agent(name);
  const before = readHook(ref, name);
  // The result of a call may come after the end of its turn, and does not begin a turn.
  if (RESULTS.has(event) && before?.event === "resting" && before.instance === instance) return;
  const detail = report.detail && redactText(report.detail, ownSecrets());
  const addWords = (text: string | undefined): void => {
    if (text !== undefined)
      addLastWords(ref, name, { at: systemClock.now(), text: redactText(text, ownSecrets()) });
  };
  addWords(lastWords);
  writeHook(ref, name, defined({ ...report, detail, instance, at: systemClock.now() }));
  ring(bell);
  // claude 2.1.34 writes its last words only to its transcript.
  const { transcript } = report;
  if (event === "Stop" && lastWords === undefined && transcript !== undefined)
    addWords(await lastWordsOf(transcript));
  if (event === "PreToolUse") await untilTurnIsWritten(ref.paths.config, name);
}

/** Hooks that report the result of a call. */
const RESULTS: ReadonlySet<string> = new Set(["PostToolUse", "AfterTool"]);

/** Maximum bytes of the input to keep: the results of tools can be large, and do not affect the state. */
const MAX_INPUT = 1024 * 1024;

async function inputOf(io: Io): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Read to the end: the CLI must not write into a closed pipe.
  for await (const chunk of io.bytesIn()) {
    size += chunk.length;
    if (size <= MAX_INPUT) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
