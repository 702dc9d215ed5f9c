import { resolve } from "node:path";
import { EXIT, fileAccessError, isSystemError, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import {
  type AgentDiff,
  type DiffProblem,
  readDiff,
  readDiffs,
} from "../../operations/landing/read-diffs.ts";
import { readText } from "../../os/files/fs.ts";
import { showInPager } from "../../os/process/pager.ts";
import { noteRedacted } from "../../runtime/commands/redaction-note.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { deciderOf, openTeam } from "../../runtime/select-team.ts";
import { splitAddress } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { diffText } from "../../terminal/diff-text.ts";
import { line, wantsColors } from "../../terminal/output.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { defineCommand, usageError } from "../command.ts";
import { pluralized } from "../option-values.ts";

export const command = defineCommand({
  name: "diff",
  summary: "Show an agent's changes, committed or not, and send comments on their lines",
  args: [{ name: "agent", summary: "the agent (default: all agents with changes)", optional: true }],
  options: {
    stat: { summary: "only list the files, with the number of changed lines" },
    commentFile: {
      value: "file",
      summary: "send the agent the comments in this file as one message; - reads them from stdin",
    },
  },
  examples: ["teams diff", "teams diff dev --stat", "teams diff dev --comment-file review.txt"],
  notes:
    "A worktree is compared with the commit where its branch left the branch to land on; any other directory is compared with " +
    "its last commit. Untracked files count as additions. On a terminal the output goes through $PAGER (default: less).\n" +
    "A comment file has one comment on each line, path:line: text; an indented line continues the comment above it.",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, options, splitAddress(args.agent ?? ""));
    const ctx = filesContext(call, open);
    if (options.commentFile !== undefined) {
      if (args.agent === undefined) throw usageError(command, "needs an agent for --comment-file.");
      if (options.stat) throw usageError(command, "accepts --stat or --comment-file, not both.");
      await sendCommentFile(call, ctx, args.agent, options.commentFile);
      return EXIT.done;
    }
    const { diffs, problems } =
      args.agent === undefined
        ? await readDiffs(ctx)
        : { diffs: [await readDiff(ctx, args.agent)], problems: [] };
    for (const { agent, directory, problem } of problems)
      out.note(line`git cannot show the changes of ${agent} in ${directory}: ${problem}`);
    await show(call, ctx, { diffs, problems }, options.stat);
    return EXIT.done;
  },
});

async function show(
  { io, out }: AnyCall,
  { ref }: OperationContext,
  { diffs, problems }: { readonly diffs: readonly AgentDiff[]; readonly problems: readonly DiffProblem[] },
  stat: boolean,
): Promise<void> {
  const text = (): string => {
    if (diffs.length === 0) return problems.length === 0 ? "No agent has changes." : "";
    const config = readTeam(ref);
    const { ascii } = terminalAbilities(io.env);
    const style = { stat, colors: wantsColors(io.env, io.terminal.stdout), columns: out.columns, ascii };
    return diffs
      .map((diff) => ({ ...diff, color: lookUpMember(config, diff.agent)?.color }))
      .map((diff) => diffText(diff, out, style))
      .join(stat ? "\n\n" : "\n\n\n");
  };
  // A model would wait in the pager for a key.
  const paged = io.terminal.stdout && io.terminal.stdin && !out.json && deciderOf(io.env) === "person";
  if (paged && diffs.length > 0 && (await showInPager(`${text()}\n`, io.env))) return;
  const patchless = diffs.map(({ patch: _, ...rest }) => rest);
  out.answer({ diffs: stat ? patchless : diffs, problems }, text);
}

async function sendCommentFile(
  { io, out }: AnyCall,
  ctx: OperationContext,
  agent: string,
  file: string,
): Promise<void> {
  const { parseComments, sendComments } = await import("../../operations/landing/review-comments.ts");
  const text = file === "-" ? await io.readStdin() : readCommentFile(resolve(io.cwd, file));
  const comments = parseComments(text, file === "-" ? "stdin" : file);
  const { to, messageId, queuedForRestart } = await sendComments(ctx, agent, comments);
  noteRedacted(text, out);
  const { team } = ctx.ref;
  out.done({ agent: to, team, messageId, queuedForRestart, comments }, () =>
    queuedForRestart
      ? line`${to} is not running; its restart delivers ${pluralized(comments.length, "comment")} as one message.`
      : line`Sent ${pluralized(comments.length, "comment")} to ${to} as one message.`,
  );
}

/** @throws TeamError INVALID_INPUT, PERMISSION_DENIED */
function readCommentFile(path: string): string {
  try {
    const text = readText(path);
    if (text !== undefined) return text;
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(path, "read", error, "; nothing was sent") : error;
  }
  throw new TeamError("INVALID_INPUT", `There is no file ${path}; nothing was sent.`, {
    hint: "Give the path of a file with comments, or - to read them from stdin.",
  });
}
