import { EXIT, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { isRecordedHidden, setHidden } from "../../operations/hide-pane.ts";
import { unprovenPaneError } from "../../operations/processes/place-of-member.ts";
import { resumeHint } from "../../operations/resume-hint.ts";
import { runForeground } from "../../os/process/spawn.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import { resolveTarget } from "../../runtime/select-target.ts";
import { readPlace } from "../../team/records/read-records.ts";
import type { Io } from "../../terminal/io.ts";
import { line, type Output } from "../../terminal/output.ts";
import { operand, optionWords, shellWord } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { focusFirstPane, focusOrder } from "../focus-member.ts";

export const command = defineCommand({
  name: "attach",
  summary: "Go to the pane of a teammate or a team",
  args: [{ name: "name", summary: "an agent or a team (default: the team)", optional: true }],
  options: {},
  examples: ["teams attach", "teams attach reviewer", "teams attach reviewer@review --json"],
  notes:
    "Inside tmux it switches to the pane, or links its window if destroy-unattached would end your session. Outside tmux it attaches to the session. If neither is possible, it prints the command to run. " +
    "A hidden teammate is shown first.",
  async run(call) {
    const { args, options, io, out } = call;
    const target = resolveTarget(io.env, options, args.name);
    const ctx = await operationContext(call, target.open);
    const names = target.kind === "member" ? [target.member.name] : focusOrder(ctx);
    const name = target.kind === "member" ? target.member.name : target.open.ref.team;
    if (target.kind === "member" && isRecordedHidden(ctx, name)) await setHidden(ctx, name, false);
    const outcome = await focusFirstPane(ctx, names);
    if (outcome.kind === "gone") {
      const unproven = target.kind === "member" ? await unprovenPaneError(ctx, name) : undefined;
      throw unproven ?? noPaneError(ctx, name, names);
    }
    if (outcome.kind === "switched") {
      out.done({ name, switched: true }, () => line`Switched to ${name}.`);
      return EXIT.done;
    }
    const [program = "tmux", ...words] = outcome.argv;
    const why = reasonNotToAttach(io, out, outcome.why);
    if (why === undefined) return runForeground(program, words, io.env);
    out.answer({ name, switched: false, command: outcome.argv }, () => outcome.argv.map(shellWord).join(" "));
    if (why !== "") out.note(why);
    return EXIT.done;
  },
});

/** Explains why this terminal cannot be attached; empty if the reason is obvious, undefined if it can be. */
function reasonNotToAttach(io: Io, out: Output, why: "outside" | "elsewhere" | "unseen"): string | undefined {
  if (why === "elsewhere") {
    return "The pane is on another tmux server. Run the command in a terminal without tmux, or here for a tmux inside tmux.";
  }
  if (why === "unseen") return "No terminal is attached to this tmux session, so no terminal was switched.";
  if (out.json || !io.terminal.stdin || !io.terminal.stdout) return "";
  if (!io.env.TERM || io.env.TERM === "dumb") {
    return `tmux cannot draw on this terminal (TERM is ${io.env.TERM || "not set"}). Run the command in another terminal.`;
  }
  return undefined;
}

/** Creates the error for members without a pane, with a hint on how to watch them. */
function noPaneError(ctx: OperationContext, name: string, names: readonly string[]): TeamError {
  const paneless = names.find((member) => readPlace(ctx.ref, member)?.backend === "process");
  const team = optionWords("--team", ctx.ref.team);
  if (paneless === undefined) {
    return new TeamError("RECIPIENT_INACTIVE", `${name} has no pane now.`, {
      hint: resumeHint(ctx.ref, names) ?? `See its state: teams status ${team}`,
    });
  }
  return new TeamError("RECIPIENT_INACTIVE", `${name} runs without a pane.`, {
    hint: `Watch it here: teams peek ${team} -f ${operand(paneless)}`,
  });
}
