import { TeamError } from "../../errors.ts";
import {
  type AgentTask,
  backgroundTask,
  backgroundTasks,
  endBackgroundTask,
} from "../../operations/background.ts";
import { systemClock } from "../../os/clock.ts";
import { readTail } from "../../os/files/file-parts.ts";
import { fileSize } from "../../os/files/fs.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { memberByAddress, openTeam } from "../../runtime/select-team.ts";
import { splitAddress } from "../../schema/names.ts";
import { line } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { shortAge } from "../../text/age.ts";
import { isoTime } from "../../text/local-time.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { defineCommand, usageError } from "../command.ts";

/** Maximum bytes of output to print; the file may contain more. */
const MAX_SHOWN = 256 * 1024;

export const command = defineCommand({
  name: "bg",
  summary: "List, read and end the background commands and subagents of agents",
  args: [
    { name: "agent", summary: "the member: name or name@team (default: all members)", optional: true },
    { name: "id", summary: "print the output of this background task", optional: true },
  ],
  options: {
    kill: { summary: "end the task and everything that it started; its agent is notified" },
    all: { summary: "also list ended tasks" },
  },
  examples: ["teams bg", "teams bg dev bash-1f2e3d4c", "teams bg dev bash-1f2e3d4c --kill"],
  notes: "Background work ends with its agent. Its output stays in a file for three days.",
  async run(call) {
    const { args, options, io, out } = call;
    const { agent: address, id } = args;
    if (options.kill && id === undefined) throw usageError(command, "needs an agent and an id for --kill.");
    if (options.all && id !== undefined) throw usageError(command, "accepts an id or --all, not both.");
    const open = openTeam(io.env, options, address === undefined ? undefined : splitAddress(address));
    const { ref, config } = open;
    const names =
      address === undefined
        ? config.members.map(({ name }) => name)
        : [memberByAddress(ref, config, address).name];
    const [name = ""] = names;
    if (id === undefined) {
      const tasks = names
        .flatMap((member) => backgroundTasks(ref, member))
        .filter(({ status }) => options.all || status === "running");
      out.answer({ team: ref.team, tasks: tasks.map(backgroundJson) }, () =>
        listText(tasks, options.all, out.columns),
      );
      return;
    }
    if (options.kill) {
      const before = backgroundTask(ref, name, id);
      const task = await endBackgroundTask(filesContext(call, open), name, id, {
        signal: io.interruption(),
      });
      out.done({ team: ref.team, task: backgroundJson(task) }, () =>
        before.status === "running" && task.status === "killed"
          ? line`${id} of ${name} has ended.`
          : line`${id} of ${name} had already ended: ${task.how}.`,
      );
      return;
    }
    const task = backgroundTask(ref, name, id);
    const output = readOutput(task);
    if (output === "" && task.status === "running") out.note(noOutputYet(task));
    const isCut = (fileSize(task.outputFile) ?? 0) > MAX_SHOWN;
    if (isCut) out.note(line`Only the end is shown; the whole output is in ${task.outputFile}`);
    out.answer({ team: ref.team, task: backgroundJson(task), output }, () => stripControls(output).trimEnd());
  },
});

function noOutputYet({ agent, id, kind }: AgentTask): string {
  const why = kind === "agent" ? ": the text of a subagent comes at its end" : "";
  return line`${id} of ${agent} has no output yet${why}.`;
}

function backgroundJson(task: AgentTask): object {
  const { startedAt, endedAt } = task;
  return {
    ...task,
    startedAt: isoTime(startedAt),
    ...(endedAt === undefined ? {} : { endedAt: isoTime(endedAt) }),
  };
}

/** @throws TeamError INVALID_INPUT if the file is gone */
function readOutput({ agent, id, outputFile }: AgentTask): string {
  const output = readTail(outputFile, MAX_SHOWN);
  if (output !== undefined) return output;
  throw new TeamError("INVALID_INPUT", `The output of ${id} of ${agent} is gone: ${outputFile}`, {
    hint: "Output is removed three days after its last change.",
  });
}

function listText(tasks: readonly AgentTask[], all: boolean, columns: number | undefined): string {
  if (tasks.length === 0) return all ? "No background tasks." : "Nothing runs in the background.";
  const now = systemClock.now();
  const rows = tasks.map(({ agent, id, status, how, startedAt, endedAt, what }) => [
    agent,
    id,
    status === "running" || how === "" ? status : `${status}: ${how}`,
    shortAge((endedAt ?? now) - startedAt),
    what,
  ]);
  return table(["MEMBER", "ID", "STATE", "TIME", "WHAT"], rows, { columns, right: [3] });
}
