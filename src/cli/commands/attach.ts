import { EXIT, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { isWrittenHidden, setHidden } from "../../operations/hide-pane.ts";
import { resumeHint } from "../../operations/resume-hint.ts";
import { runForeground } from "../../os/process/spawn.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import { resolveTarget } from "../../runtime/select-team.ts";
import { readPlace } from "../../team/records/read-records.ts";
import type { Io } from "../../terminal/io.ts";
import type { Output } from "../../terminal/output.ts";
import { line } from "../../terminal/paint.ts";
import { operand, optionWords, shellWord } from "../../text/shell-quote.ts";
import { defineCommand } from "../define-command.ts";
import { focusFirstPane, focusOrder } from "../focus-member.ts";

export const command = defineCommand({
  name: "attach",
  summary: "Go to the pane of a teammate or a team",
  args: [{ name: "name", summary: "an agent or a team", optional: true }],
  options: {},
  examples: ["teams attach", "teams attach reviewer", "teams attach reviewer@review --json"],
  notes:
    "Inside tmux it switches to the pane. Outside tmux it attaches to the session. If it can do neither, it prints the command for it. " +
    "A hidden teammate is shown first.",
  async run(call) {
    const { args, options, io, out } = call;
    const target = resolveTarget(io.env, options, args.name);
    const ctx = await operationContext(call, target.open);
    const names = target.kind === "member" ? [target.member.name] : focusOrder(ctx);
    const who = target.kind === "member" ? target.member.name : target.open.ref.team;
    if (target.kind === "member" && isWrittenHidden(ctx, who)) await setHidden(ctx, who, false);
    const outcome = await focusFirstPane(ctx, names);
    if (outcome.kind === "gone") throw noPaneError(ctx, who, names);
    if (outcome.kind === "switched") {
      out.done({ name: who, switched: true }, () => line`Here is ${who}.`);
      return EXIT.done;
    }
    const [program = "tmux", ...words] = outcome.argv;
    const why = reasonNotToAttach(io, out, outcome.why);
    if (why === undefined) return runForeground(program, words, io.env);
    out.answer({ name: who, switched: false, command: outcome.argv }, () =>
      outcome.argv.map(shellWord).join(" "),
    );
    if (why !== "") out.note(why);
    return EXIT.done;
  },
});

/** Why this terminal is not attached, in words where it is not plain to see; undefined when it can be. */
function reasonNotToAttach(io: Io, out: Output, why: "outside" | "elsewhere" | "unseen"): string | undefined {
  if (why === "elsewhere") {
    return "That is another tmux server than this one. Run it in a terminal without tmux, or here for one tmux inside the other.";
  }
  if (why === "unseen") return "No terminal shows this tmux session, so none was switched.";
  if (out.json || !io.terminal.stdin || !io.terminal.stdout) return "";
  if (!io.env.TERM || io.env.TERM === "dumb") {
    return `tmux cannot draw on this terminal (TERM is ${io.env.TERM || "not set"}). Run it in another one.`;
  }
  return undefined;
}

/** Those without a pane are seen by other means. */
function noPaneError(ctx: OperationContext, who: string, names: readonly string[]): TeamError {
  const paneless = names.find((name) => readPlace(ctx.ref, name)?.backend === "process");
  const team = optionWords("--team", ctx.ref.team);
  if (paneless === undefined) {
    return new TeamError("RECIPIENT_INACTIVE", `${who} has no pane now.`, {
      hint: resumeHint(ctx.ref, names) ?? `What is known: teams status ${team}`,
    });
  }
  return new TeamError("RECIPIENT_INACTIVE", `${who} has no pane: it runs without one.`, {
    hint: `Watch it here: teams peek ${team} -f ${operand(paneless)}`,
  });
}
