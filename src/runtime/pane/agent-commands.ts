import { defaultModelName, isScripted, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { requirePrice } from "../../operations/budget.ts";
import { permissionMode, type TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { isPricedBy, loadSettings } from "../../settings/settings.ts";
import { memberWord } from "../../team/address-words.ts";
import { readTeam } from "../../team/config/config.ts";
import { budgetsOf } from "../../team/members/budget.ts";
import { findMember, patchMember } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { PaneView } from "../../terminal/pane/pane-view.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { AgentAction } from "../../worker/turn-queue.ts";
import type { Worker } from "../../worker/worker.ts";
import { playbookFile } from "../agent/models.ts";

/** The commands that act on the agent of the pane itself, between two turns. */
export interface AgentCommands {
  /** Shows the permission mode. */
  showMode(): void;
  /** Shows the model; with a name, changes the model from the next turn on. */
  model(name: string | undefined): void;
  /** Replaces the conversation with a summary. @param focus the part that the summary must keep above all */
  compact(focus: string): void;
  /** Starts an empty conversation. */
  clear(): void;
}

export interface AgentCommandsOptions {
  readonly ref: TeamRef;
  /** The agent in whose pane the person types. */
  readonly name: string;
  readonly call: Pick<AnyCall, "io">;
  readonly view: PaneView;
  readonly worker: Worker;
  /** Clears the terminal. */
  clear(): void;
}

export function agentCommands({ ref, name, call, view, worker, clear }: AgentCommandsOptions): AgentCommands {
  const { io } = call;
  const member = (): TeamMember => findMember(readTeam(ref), name);
  const program = (): string => readMetadata(member(), "cli") ?? "its program";
  const ownConversationError = (what: string): TeamError =>
    new TeamError("INVALID_INPUT", `${program()} keeps its own conversation, which was not ${what}.`, {
      hint: "A new teammate starts with an empty conversation: teams spawn",
    });
  const requireNoPlan = (): void => {
    if (!worker.planApproval.isWaiting) return;
    throw new TeamError("INVALID_INPUT", "A plan is waiting for an answer; nothing was changed.", {
      hint: "Answer the plan first: teams approvals",
    });
  };
  const betweenTurns = (activity: string, act: AgentAction["act"]): void => {
    const isLater = worker.betweenTurns({
      activity,
      act: (agent, signal) =>
        act(agent, signal).catch((error: unknown) => view.error(messageWithHint(error))),
    });
    if (isLater) view.note("runs after this turn; Esc interrupts the turn");
  };
  return {
    showMode() {
      const mode = permissionMode.safeParse(member().mode).data ?? "default";
      view.answer(`permission mode: ${mode}\n/mode <mode> changes it: ${PERMISSION_MODES.join(", ")}`);
    },
    model(wanted) {
      const now = member().model ?? "its program's own";
      const isForeign = readMetadata(member(), "cli") !== undefined;
      if (wanted === undefined) {
        const change = isForeign
          ? `${gridText(program())} chooses its model itself`
          : "/model <id> changes it: haiku, sonnet, opus, or an id";
        view.answer(`model: ${gridText(now)}\n${change}`);
        return;
      }
      if (isForeign) throw ownModelError(program());
      const model = checkedModel(wanted);
      betweenTurns("changes its model", async (agent) => {
        if (agent.changeModel === undefined) throw ownModelError(program());
        await agent.changeModel(model);
        view.note(`the model is now ${model}`);
        await patchMember(ref, name, { model }).catch((error: unknown) =>
          view.error(`the model was not saved, so it is used only until a restart: ${messageOf(error)}`),
        );
      });
    },
    compact(focus) {
      betweenTurns("compacts its conversation", async (agent, signal) => {
        requireNoPlan();
        if (agent.compact === undefined) throw ownConversationError("compacted");
        if (agent.messages.length === 0) {
          view.note("the conversation is empty: there is nothing to compact");
          return;
        }
        try {
          const failed = await agent.compact(focus, signal);
          if (failed?.outcome === "interrupted") view.note("interrupted: the conversation is unchanged");
          else if (failed !== undefined) view.error(`${failed.failure} The conversation is unchanged.`);
        } finally {
          // Ends the shown activity, also if the summary could not be saved.
          view.idle();
        }
      });
    },
    clear() {
      betweenTurns("clears its conversation", async (agent, signal) => {
        requireNoPlan();
        if (agent.clear === undefined) throw ownConversationError("cleared");
        if (agent.messages.length === 0) {
          view.note("the conversation is already empty");
          return;
        }
        clear();
        await agent.clear(signal);
        view.note(`to read the earlier conversation: teams logs ${memberWord(ref, name)} --all`);
      });
    },
  };

  /** @throws TeamError INVALID_MODEL, also if there is no access to the model, or if a budget in dollars needs its price */
  function checkedModel(wanted: string): string {
    if (isScripted(wanted)) return wanted === SCRIPTED ? wanted : playbookName(wanted);
    const settings = loadSettings(ref.home.root, io.cwd);
    const model = resolveModelName(wanted, settings.teams.models);
    if (defaultModelName({ ...io.env, ...settings.env }) === SCRIPTED) {
      throw new TeamError("INVALID_MODEL", `There is no access to ${model}; the model was not changed.`, {
        hint: "Start the agent with ANTHROPIC_API_KEY, or with ANTHROPIC_BASE_URL for your own server.",
      });
    }
    if (budgetsOf(ref, name).some(({ limits }) => limits.maxCostUsd !== undefined))
      requirePrice(model, isPricedBy(settings));
    return model;
  }

  /** Returns the model's name with an absolute path: the process of a restart may have another working directory. */
  function playbookName(wanted: string): string {
    return `${SCRIPTED}:${playbookFile(wanted, io.program, io.cwd)}`;
  }
}

/** Returns the message of an error, with the next step if it has one. */
export function messageWithHint(error: unknown): string {
  const hint = error instanceof TeamError ? error.hint : undefined;
  return hint === undefined ? messageOf(error) : `${messageOf(error)}\n${hint}`;
}

function ownModelError(program: string): TeamError {
  return new TeamError("INVALID_INPUT", `${program} chooses its model itself; the model was not changed.`, {
    hint: "Start a teammate with another model: teams spawn <name> --cli <cli> --model <id>",
  });
}
