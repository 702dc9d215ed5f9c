import { TeamError } from "../../errors.ts";
import { deleteTeam } from "../../operations/ending/delete-team.ts";
import type { SavedArchive } from "../../runtime/commands/archive-file.ts";
import { operationContext, refuseForeignTeam } from "../../runtime/operation-context.ts";
import { deciderOf, namedTeam, openTeam } from "../../runtime/select-team.ts";
import { defined } from "../../schema/defined.ts";
import { leftoversOf, removeLeftovers } from "../../team/config/delete-files.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { type TeamRef, teamsHome } from "../../team/ref.ts";
import { line } from "../../terminal/output.ts";
import { failureOf } from "../../terminal/report-error.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { operand, shellWord } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "delete",
  summary: "Delete a team: its config, inboxes and tasks",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    force: {
      summary: "end running members first; also delete what is left of a team that has no config",
    },
    backup: {
      summary:
        "export the team first into this directory, as `teams export` does; if that fails, nothing is deleted",
    },
  },
  examples: ["teams delete review", "teams delete review --backup", "teams delete review --force"],
  notes:
    "Without --force, a team with running members is not deleted: shut them down first (teams shutdown --all). " +
    "A worktree with unsaved work is kept, and its path is printed.",
  async run(call) {
    const { args, options, io, out } = call;
    const name = namedTeam(io.env, options, args.name);
    const named = name !== undefined;
    const ref = named ? findTeam(teamsHome(io.env), name) : undefined;
    if (ref !== undefined && leftoversOf(ref).length > 0) {
      if (deciderOf(io.env) === "model") throw agentShellError(ref);
      if (!options.force) throw leftoversOnlyError(ref);
      if (options.backup) throw nothingToSaveError(ref);
      const removed = removeLeftovers(ref);
      out.done({ team: ref.team, deleted: true, removed }, () => line`Deleted: ${removed.join(", ")}`);
      return;
    }
    const open = openTeam(io.env, { ...options, team: name }, undefined);
    refuseForeignTeam(open, { named, force: options.force });
    let saved: SavedArchive | undefined;
    let warning: readonly string[] = [];
    const backup = async (): Promise<void> => {
      if (!options.backup) return;
      const { BUSY_NOTE, saveTeam, worktreeLines } = await import("../../runtime/commands/archive-file.ts");
      const saving = saveTeam(open.ref, { cwd: io.cwd, elsewhere: "run it in another directory" });
      saved = await saving.catch((error: unknown) => {
        throw withState(error, "Nothing was deleted.");
      });
      if (!saved.consistent) out.note(BUSY_NOTE);
      warning = worktreeLines(saved);
    };
    const deleting = deleteTeam(await operationContext(call, open), {
      force: options.force,
      backup,
      problem: out.note,
    });
    const worktrees = await deleting.catch((error: unknown) => {
      if (saved === undefined) throw error;
      throw withState(error, `The archive was already saved: ${saved.file}`, { backup: saved.file });
    });
    const { team } = open.ref;
    out.done({ team, deleted: true, worktrees, ...(saved && { backup: saved.file }) }, () =>
      [
        line`Deleted team ${team}.`,
        ...keptLines(worktrees),
        ...(saved
          ? [
              line`Its archive: ${saved.file}`,
              ...warning,
              line`To restore it: teams import ${shellWord(saved.file)}`,
            ]
          : []),
      ].join("\n"),
    );
  },
});

/** Adds a sentence and facts to an error. An error that is a bug of teams stays as it is. */
function withState(error: unknown, sentence: string, facts: Readonly<Record<string, string>> = {}): unknown {
  const { code, message, hint, details } = failureOf(error);
  if (code === "INTERNAL") return error;
  return new TeamError(
    code,
    `${message} ${sentence}`,
    defined({ hint, details: { ...details, ...facts }, cause: error }),
  );
}

/** The files may belong to another program, such as the task list of a session: deleted only with the name and --force (S76). */
function leftoversOnlyError(ref: TeamRef): TeamError {
  const message = `There is no team ${ref.team}, only files of that name: ${leftoversOf(ref).join(", ")}. Nothing was deleted.`;
  return new TeamError("TEAM_NOT_FOUND", message, {
    hint: `These files may belong to another program. To delete them anyway: teams delete --force ${operand(ref.team)}`,
    details: { team: ref.team },
  });
}

function nothingToSaveError(ref: TeamRef): TeamError {
  const message = `${ref.team} no longer has a config, so its files cannot be exported. Nothing was deleted.`;
  return new TeamError("INVALID_INPUT", message, {
    hint: `Copy the files that you want to keep, then: teams delete --force ${operand(ref.team)}`,
  });
}

/** No agent leads a team without a config, so no agent may delete its files. */
function agentShellError(ref: TeamRef): TeamError {
  const message = `Only a person can delete the files of ${ref.team}, and this shell belongs to an agent. Nothing was deleted.`;
  return new TeamError("NOT_LEAD", message, { hint: "Run the command in your own shell." });
}
