import { dirname } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import { follow } from "../../operations/follow-team.ts";
import { setPermissionMode } from "../../operations/permission-mode.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { bypassForbiddenBy, ignoredLines } from "../../settings/settings.ts";
import { updateTeam } from "../../team/config/config.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { Lead, LeadClient, LeadPlan, LeadRest } from "../lead/lead.ts";
import type { SessionFact } from "./facts.ts";
import { followTeammates, replayLead } from "./follow-members.ts";
import { MAX_TITLE } from "./limits.ts";
import { leadView } from "./member-view.ts";
import { type SessionLead, startSessionLead } from "./session-lead.ts";
import { type OfferRequest, SessionRequests } from "./session-requests.ts";
import {
  type Activity,
  NEW_SESSION,
  type PromptEnd,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
  step,
} from "./session-state.ts";
import { SessionUsage } from "./session-usage.ts";
import { oneLine } from "./tool-call.ts";

/** The connection of a session to its client, in some version of the protocol. */
export interface SessionPeer {
  show(fact: SessionFact): void;
  offer: OfferRequest;
  /** The activity of the session has changed. Version 1 has no such message: its client waits for the answer to its prompt. */
  activity?(activity: Activity): void;
  /** The session has ended on its own. */
  ended(): void;
}

interface SessionOptions {
  readonly call: AnyCall;
  readonly plan: LeadPlan;
  readonly peer: SessionPeer;
  /** The whole conversation is shown before the session opens. */
  readonly replays: boolean;
}

/** A team with its lead in this process, as a client sees it. Knows no version of the protocol. */
export class Session {
  readonly #peer: SessionPeer;
  readonly #ending = new AbortController();
  readonly #usage: SessionUsage;
  readonly #prompts = new Map<number, (end: PromptEnd) => void>();
  #state: SessionState = NEW_SESSION;
  #nextPrompt = 1;
  /** Lines are saved one after another, in the order of their prompts. */
  #saving: Promise<unknown> = Promise.resolve();
  /** Withdrawn lines that a turn may have taken at the same moment. */
  #strayLines = 0;
  #shownTasks = "[]";
  #running: SessionLead | undefined;
  #requests: SessionRequests | undefined;
  #followTeammates = (): void => undefined;
  #closed: Promise<void> = Promise.resolve();

  private constructor(peer: SessionPeer) {
    this.#peer = peer;
    this.#usage = new SessionUsage((fact) => peer.show(fact));
  }

  /** Creates or resumes the team of a session. @throws TeamError as `teams run` does */
  static async open({ call, plan, peer, replays }: SessionOptions): Promise<Session> {
    const session = new Session(peer);
    await session.#start(call, plan, replays);
    return session;
  }

  get mode(): PermissionMode {
    return this.#lead.worker.planApproval.mode;
  }

  get isBypassForbidden(): boolean {
    const { settings, ctx } = this.#lead.lead;
    return bypassForbiddenBy(settings(), ctx.env) !== undefined;
  }

  /** The lead's tokens since the last call. */
  get usage(): SessionUsage {
    return this.#usage;
  }

  get #lead(): SessionLead {
    if (this.#running === undefined) throw new Error("The session has no lead yet.");
    return this.#running;
  }

  async #start(call: AnyCall, plan: LeadPlan, replays: boolean): Promise<void> {
    const show = (fact: SessionFact): void => this.#peer.show(fact);
    const client: LeadClient = {
      view: leadView(LEAD_NAME, show, {
        typed: () => this.#onTyped(),
        event: (event) => {
          this.#usage.event(event);
          if (event.type === "turn_started") this.#step({ type: "turn_started" });
          if (event.type === "turn_ended") this.#step({ type: "turn_ended" });
        },
      }),
      onRest: (rest) => this.#onRest(rest),
    };
    const own = { ...call, io: { ...call.io, interruption: () => this.#ending.signal } };
    const running = await startSessionLead(own, plan, client, {
      signal: this.#ending.signal,
      opened: (lead) => (replays ? this.#replay(lead) : undefined),
    });
    this.#running = running;
    const { ctx, settings, sessionId } = running.lead;
    const isNew = plan.resumes === undefined;
    this.#followTeammates = followTeammates(ctx.ref, isNew, show);
    this.#requests = new SessionRequests({
      ctx,
      offer: (request, signal) => this.#peer.offer(request, signal),
      onChange: (open, isLeft) => this.#step({ type: "requests", open, isLeft }),
      onProblem: (text) => show({ kind: "notice", severity: "error", text }),
    });
    for (const text of ignoredLines(settings())) show({ kind: "notice", severity: "warning", text });
    running.lead.notePlacement();
    const following = follow(ctx.ref, () => this.#check(), {
      signal: this.#ending.signal,
      alsoWatch: [dirname(transcriptPath(ctx.home.root, sessionId))],
    }).catch((error: unknown) => this.#problem(error));
    this.#closed = running.ended.then(async (why) => {
      this.#ending.abort();
      await following;
      this.#requests?.end();
      this.#step({ type: "ended", failure: `The session has ended: ${why ?? "it was closed"}.` });
      if (why !== undefined) this.#peer.ended();
    });
  }

  #replay({ ctx, sessionId }: Lead): void {
    try {
      replayLead(transcriptPath(ctx.home.root, sessionId), (fact) => this.#peer.show(fact));
    } catch (error) {
      // The team can still be led.
      this.#problem(error);
    }
  }

  /**
   * Sends a line to the lead. During a turn the line waits in its inbox, and the turn ends at its next step.
   * @returns how the prompt ended: when the lead has nothing left to do, and no teammate works
   */
  prompt(text: string): Promise<PromptEnd> {
    const prompt = this.#nextPrompt;
    this.#nextPrompt += 1;
    const end = new Promise<PromptEnd>((resolve) => this.#prompts.set(prompt, resolve));
    this.#step({ type: "prompted", prompt });
    this.#saving = this.#saving.then(() => this.#save(prompt, text));
    this.#requests?.offerAgain();
    return end;
  }

  async #save(prompt: number, text: string): Promise<void> {
    try {
      const key = await this.#lead.worker.clientInput.prompt(text);
      this.#step({ type: "saved", prompt, key });
      if (prompt === 1) await this.#describe(text);
    } catch (error) {
      this.#step({ type: "unsaved", prompt, failure: messageOf(error) });
    }
  }

  /** The first prompt says what the team is for. */
  async #describe(text: string): Promise<void> {
    const title = shortened(oneLine(text), MAX_TITLE);
    try {
      await updateTeam(this.#lead.lead.ctx.ref, (config) =>
        config.description ? undefined : { ...config, description: title },
      );
      this.#peer.show({ kind: "title", title });
    } catch (error) {
      this.#problem(error);
    }
  }

  /** Interrupts the lead, and drops the prompts that wait. Teammates continue. */
  cancel(): void {
    const inTurn = this.#lead.worker.interrupt();
    this.#step({ type: "cancelled", inTurn });
  }

  /** @throws TeamError PERMISSION_DENIED if a setting forbids the mode */
  async setMode(mode: PermissionMode): Promise<void> {
    const { ctx, settings } = this.#lead.lead;
    await setPermissionMode(ctx, LEAD_NAME, mode, {
      decider: "person",
      forbidden: bypassForbiddenBy(settings(), ctx.env),
    });
  }

  /** Ends the lead and its teammates, and keeps the team. @param reason a signal of this process, if there was one */
  async close(reason?: unknown): Promise<void> {
    this.#ending.abort(reason);
    await this.#closed;
  }

  #onTyped(): void {
    const { prompts, unsaved } = this.#state;
    const isAwaited = prompts.some(({ isTaken }) => !isTaken);
    if (!isAwaited && this.#strayLines + unsaved.length > 0) {
      // Its prompt was cancelled when the turn had just taken the line.
      this.#strayLines = Math.max(0, this.#strayLines - 1);
      this.#lead.worker.interrupt();
    }
    this.#step({ type: "taken" });
  }

  #onRest(rest: LeadRest): void {
    // The answer to a prompt comes after everything that belongs to it.
    this.#check();
    this.#step({ type: "rested", rest, failure: this.#running?.worker.lastFailure });
  }

  /** Shows the changes of other processes. @returns false, so that the team is still followed */
  #check(): boolean {
    if (this.#running === undefined) return false;
    const { lead } = this.#running;
    try {
      this.#followTeammates();
      this.#requests?.check();
      this.#showTasks();
      this.#usage.check(lead);
    } catch (error) {
      // The lead may have deleted its team, and create the next.
      if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) this.#problem(error);
    }
    return false;
  }

  #showTasks(): void {
    const tasks = listTasks(this.#lead.lead.ctx.ref);
    const shown = JSON.stringify(tasks.map(({ id, subject, owner, status }) => [id, subject, owner, status]));
    if (shown === this.#shownTasks) return;
    this.#shownTasks = shown;
    this.#peer.show({ kind: "tasks", tasks });
  }

  #problem(error: unknown): void {
    this.#peer.show({ kind: "notice", severity: "error", text: messageOf(error) });
  }

  #step(event: SessionEvent): void {
    const { state, effects } = step(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#apply(effect);
  }

  #apply(effect: SessionEffect): void {
    switch (effect.type) {
      case "end_prompt":
        this.#prompts.get(effect.prompt)?.(effect.end);
        this.#prompts.delete(effect.prompt);
        return;
      case "withdraw":
        this.#strayLines += 1;
        void this.#lead.worker.clientInput.withdraw([effect.key]).then((dropped) => {
          this.#strayLines -= dropped.length;
        });
        return;
      case "activity":
        this.#peer.activity?.(effect.activity);
    }
  }
}
