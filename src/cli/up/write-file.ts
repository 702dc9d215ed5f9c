import { dirname, resolve } from "node:path";
import { fileAccessError, isSystemError, TeamError } from "../../errors.ts";
import { teamToFile } from "../../operations/up/team-to-file.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { withProofs } from "../../team/tasks/task-proof.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { brokenTasksNote } from "../../terminal/status-line.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { printableJson } from "../../text/terminal-text.ts";
import { TEMPLATES, type TemplateName } from "./templates.ts";

/** Writes or prints a template. @throws TeamError INVALID_INPUT for an existing file, PERMISSION_DENIED */
export function writeTemplate(call: AnyCall, name: TemplateName, output: string | undefined): void {
  const text = TEMPLATES[name];
  if (output === undefined) call.out.answer({ template: name, text }, () => text.trimEnd());
  else save(call, output, text);
}

/** Writes or prints the file of a team. @throws TeamError INVALID_INPUT for an existing file, TEAM_NOT_FOUND, PERMISSION_DENIED */
export function writeFromTeam(call: AnyCall, team: string, output: string | undefined): void {
  const { io, out } = call;
  const { ref, config } = openTeam(io.env, { ...call.options, team });
  const directory = output === undefined ? io.cwd : dirname(resolve(io.cwd, output));
  const broken: string[] = [];
  const tasks = listTasks(ref, (_, id) => broken.push(id));
  const { file, left } = teamToFile(config, withProofs(ref, tasks), directory);
  if (output === undefined) out.answer(file, () => printableJson(file, 2));
  else save(call, output, `${JSON.stringify(file, undefined, 2)}\n`);
  for (const sentence of left) out.note(line`${sentence}`);
  if (broken.length > 0) out.note(line`${brokenTasksNote(broken)}`);
}

function save({ io, out }: AnyCall, output: string, text: string): void {
  const path = resolve(io.cwd, output);
  if (!isDirectory(dirname(path)))
    throw new TeamError("INVALID_INPUT", `The directory of ${output} does not exist; nothing was written.`, {
      hint: "Create the directory, or name another file with -o.",
    });
  try {
    if (entryOf(path) !== undefined)
      throw new TeamError("INVALID_INPUT", `${output} already exists; nothing was written.`, {
        hint: "Name another file with -o, or remove this file first.",
      });
    replaceFile(path, text, { mode: "umask" });
  } catch (error) {
    if (isSystemError(error)) throw fileAccessError(path, "written", error, "; nothing was written");
    throw error;
  }
  out.done({ file: path }, () =>
    [line`Wrote ${output}.`, line`Next: edit it, then teams up ${shellWord(output)} --dry-run`].join("\n"),
  );
}
