import { findAdapter } from "../adapter/adapters.ts";
import { callersServer } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import { type AdoptedMember, adoptProgram } from "../operations/adopting/adopt.ts";
import { type PaneProgram, programInPane } from "../operations/adopting/pane-program.ts";
import { operationContext, refuseForeignTeam } from "../runtime/operation-context.ts";
import { deciderOf, openTeam } from "../runtime/select-team.ts";
import { loadSettings } from "../settings/settings.ts";
import { memberWord } from "../team/address-words.ts";
import type { TeamRef } from "../team/ref.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";

interface AdoptChoice {
  /** The pane, as the user typed it. */
  readonly pane: string;
  readonly team: string | undefined;
  readonly name: string | undefined;
  readonly cli: string | undefined;
  /** Returns false to refuse the program with this process id; it is then not adopted. */
  readonly isWanted?: (pid: number) => boolean;
}

/**
 * Adopts the program in a pane as a member, on behalf of a person, and prints how it gets messages.
 * @throws TeamError PERMISSION_DENIED if the caller is a member's model; also as {@link adoptProgram}
 */
export async function adoptPane(call: AnyCall, choice: AdoptChoice): Promise<void> {
  const { io, options, out } = call;
  if (deciderOf(io.env) === "model") {
    throw new TeamError(
      "PERMISSION_DENIED",
      "Only a person can adopt a running program; nothing was adopted.",
      {
        hint: "Ask the user to adopt it.",
      },
    );
  }
  const open = openTeam(io.env, { ...options, team: choice.team });
  refuseForeignTeam(open, { named: true, force: false });
  const settings = loadSettings(open.home.root, io.cwd);
  if (choice.cli !== undefined) findAdapter(choice.cli, settings.teams.adapters);
  const ctx = await operationContext(call, open, settings);
  const program = await programInPane(callersServer(io.env), choice.pane, choice.isWanted);
  const signal = io.interruption();
  const background: Promise<unknown>[] = [];
  const input = { ...choice, isAsking: choice.isWanted !== undefined };
  const adopted = await adoptProgram(ctx, program, input, {
    sandbox: settings.teams.sandbox.mode,
    signal,
    background: (work) => background.push(work),
  });
  out.done({ ...adopted, team: open.ref.team }, () => sentence(adopted, program, open.ref));
  if (adopted.note !== null) out.note(line`${adopted.note}`);
  await Promise.all(background);
}

function sentence(
  { name, program, paneId, delivery }: AdoptedMember,
  { process }: PaneProgram,
  ref: TeamRef,
): string {
  const how = {
    inbox: "it reads its inbox itself",
    "codex queue": "its messages arrive by codex queue",
    keys: "its messages are typed into the pane, never over a draft",
  }[delivery];
  return [
    line`${name} is ${program} in pane ${paneId}, process ${process.pid}: ${how}.`,
    line`The pane stays yours. Send it a message: teams send ${memberWord(ref, name)} "…"`,
  ].join("\n");
}
