import { TeamError } from "../../errors.ts";
import { deleteTeam } from "../../operations/ending/delete-team.ts";
import { operationContext, refuseForeignTeam } from "../../runtime/operation-context.ts";
import { deciderOf, openTeam } from "../../runtime/select-team.ts";
import { leftoversOf, removeLeftovers } from "../../team/config/delete-files.ts";
import { type TeamRef, teamRef, teamsHome } from "../../team/ref.ts";
import { line } from "../../terminal/paint.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { operand, shellWord } from "../../text/shell-quote.ts";
import type { SavedArchive } from "../archive-file.ts";
import { defineCommand } from "../define-command.ts";

export const command = defineCommand({
  name: "delete",
  summary: "Remove a team: its config, inboxes and tasks",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    force: {
      summary: "end living members first instead of refusing; remove what is left of a team without a config",
    },
    backup: { summary: "save it first, as `teams export` does; if that fails nothing is deleted" },
  },
  examples: ["teams delete review", "teams delete review --backup", "teams delete review --force"],
  notes:
    "It refuses while a member's process lives: shut them down first (teams shutdown --all). Worktrees in which something is unsaved stay and are named.",
  async run(call) {
    const { args, options, io, out } = call;
    const name = args.name ?? options.team;
    const named = name !== undefined;
    const ref = named ? teamRef(teamsHome(io.env), name) : undefined;
    if (ref !== undefined && leftoversOf(ref).length > 0) {
      if (deciderOf(io.env) === "model") throw agentsShell(ref);
      if (!options.force) throw onlyLeftovers(ref);
      if (options.backup) throw nothingToSave(ref);
      const removed = removeLeftovers(ref);
      out.done({ team: ref.team, deleted: true, removed }, () => line`Removed: ${removed.join(", ")}`);
      return;
    }
    const open = openTeam(io.env, { ...options, team: name }, undefined);
    refuseForeignTeam(open, { named, force: options.force });
    let saved: SavedArchive | undefined;
    const backup = async (): Promise<void> => {
      if (!options.backup) return;
      const { saveTeam } = await import("../archive-file.ts");
      saved = await saveTeam(open.ref, io.cwd);
    };
    const worktrees = await deleteTeam(await operationContext(call, open), { force: options.force, backup });
    const { team } = open.ref;
    out.done({ team, deleted: true, worktrees, ...(saved && { backup: saved.file }) }, () =>
      [
        line`Team ${team} is deleted.`,
        ...keptLines(worktrees),
        ...(saved
          ? [line`Its archive: ${saved.file}`, line`To get it back: teams import ${shellWord(saved.file)}`]
          : []),
      ].join("\n"),
    );
  },
});

/** It may be another program's, such as the task list of a session: never without the name and --force (S76). */
function onlyLeftovers(ref: TeamRef): TeamError {
  const message = `There is no team ${ref.team}, only what is left under that name: ${leftoversOf(ref).join(", ")}. Nothing was deleted.`;
  return new TeamError("TEAM_NOT_FOUND", message, {
    hint: `It may be another program's. To remove it anyway: teams delete --force ${operand(ref.team)}`,
    details: { team: ref.team },
  });
}

function nothingToSave(ref: TeamRef): TeamError {
  const message = `What is left of ${ref.team} is not a team that could be saved. Nothing was deleted.`;
  return new TeamError("INVALID_INPUT", message, {
    hint: `Copy what you want to keep, then: teams delete --force ${operand(ref.team)}`,
  });
}

/** No agent leads a team that has no config, its own lead neither. */
function agentsShell(ref: TeamRef): TeamError {
  const message = `This shell belongs to an agent; what is left of ${ref.team} is a person's to delete. Nothing was deleted.`;
  return new TeamError("NOT_LEAD", message, { hint: "Run it in a shell of your own." });
}
