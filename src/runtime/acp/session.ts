import { dirname } from "node:path";
import { messageOf, TeamError } from "../../errors.ts";
import { setPermissionMode } from "../../operations/permission-mode.ts";
import { Retries } from "../../operations/supervision/retries.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { bypassForbiddenBy, ignoredLines } from "../../settings/settings.ts";
import { updateTeam } from "../../team/config/config.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { LeadClient, LeadPlan, LeadRest } from "../lead/lead.ts";
import type { SessionFact } from "./facts.ts";
import { followTeam, followTeammates, replayLead, ShownTasks, type TeamFollower } from "./follow-team.ts";
import { MAX_OPEN_PROMPTS, MAX_TITLE } from "./limits.ts";
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
  /** Resolves when the client has received everything that was shown. */
  flushed(): Promise<void>;
  offer: OfferRequest;
  /** The activity of the session has changed. Version 1 has no such message: its client waits for the answer to its prompt. */
  activity?(activity: Activity): void;
  /** The session has ended: nothing more is shown. */
  ended(): void;
}

interface SessionOptions {
  readonly call: AnyCall;
  readonly plan: LeadPlan;
  readonly peer: SessionPeer;
  /** Whether the conversation is shown before the session opens. */
  readonly replays: boolean;
}

/** A team with its lead in this process, as a client sees it. Knows no version of the protocol. */
export class Session {
  readonly usage: SessionUsage;
  readonly #tasks: ShownTasks;
  readonly #peer: SessionPeer;
  readonly #ending = new AbortController();
  /** Shows a failure once, even if each change of the team repeats it. */
  readonly #checks = new Retries((text) => this.#problem(text));
  readonly #prompts = new Map<number, (end: PromptEnd) => void>();
  #state: SessionState = NEW_SESSION;
  #nextPrompt = 1;
  /** Lines are saved one after another, in the order of their prompts. */
  #saving: Promise<unknown> = Promise.resolve();
  #withdrawing: Promise<unknown> = Promise.resolve();
  #isClosing = false;
  #running: SessionLead | undefined;
  #requests: SessionRequests | undefined;
  #showCallsOfTeammates = (): void => undefined;
  #closed: Promise<void> = Promise.resolve();

  private constructor(peer: SessionPeer) {
    this.#peer = peer;
    const show = (fact: SessionFact): void => peer.show(fact);
    this.usage = new SessionUsage(show);
    this.#tasks = new ShownTasks(show);
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

  get state(): SessionState {
    return this.#state;
  }

  get #lead(): SessionLead {
    if (this.#running === undefined) throw new Error("The session has no lead yet.");
    return this.#running;
  }

  async #start(call: AnyCall, plan: LeadPlan, replays: boolean): Promise<void> {
    const show = (fact: SessionFact): void => this.#peer.show(fact);
    const client: LeadClient = {
      view: leadView(LEAD_NAME, show, {
        typed: (_line, key) => this.#step({ type: "taken", key: key ?? "" }),
        event: (event) => {
          this.usage.event(event);
          if (event.type === "turn_started") this.#step({ type: "turn_started" });
          if (event.type === "turn_ended")
            this.#step({ type: "turn_ended", needsLogin: event.failureKind === "auth" });
        },
      }),
      onRest: (rest) => this.#onRest(rest),
    };
    const own = { ...call, io: { ...call.io, interruption: () => this.#ending.signal } };
    let follower: TeamFollower | undefined;
    const running = await startSessionLead(own, plan, client, {
      signal: this.#ending.signal,
      opened: async ({ ctx, sessionId }) => {
        // Before the teammates start again: their earlier calls are not shown.
        this.#showCallsOfTeammates = followTeammates(ctx.ref, plan.resumes === undefined, show);
        if (replays) await this.#replay(transcriptPath(ctx.home.root, sessionId));
      },
      moved: async () => follower?.restart(),
    });
    this.#running = running;
    const { ctx, settings, sessionId } = running.lead;
    this.#requests = new SessionRequests({
      ctx,
      offer: (request, signal) => this.#peer.offer(request, signal),
      onChange: (open, isLeft) => this.#step({ type: "requests", open, isLeft }),
      onProblem: (text) => show({ kind: "notice", severity: "error", text }),
    });
    const ignored = ignoredLines(settings());
    if (settings().ignored.length > 0) ignored.push("To use these parts, run in this directory: teams trust");
    for (const text of ignored) show({ kind: "notice", severity: "warning", text });
    running.lead.notePlacement();
    const following = followTeam(ctx.ref, {
      conversations: dirname(transcriptPath(ctx.home.root, sessionId)),
      signal: this.#ending.signal,
      onChange: () => this.#check(),
      onProblem: (error) => this.#problem(error),
    });
    follower = following;
    this.#closed = running.ended.then(async (why) => {
      this.#ending.abort();
      await following.end();
      this.#requests?.end();
      const failure = `The session has ended: ${(why ?? "it was closed").replace(/\.$/, "")}.`;
      this.#step({ type: "ended", failure, isClosed: why === undefined });
      this.#peer.ended();
    });
  }

  async #replay(transcript: string): Promise<void> {
    try {
      await replayLead(transcript, this.#peer);
    } catch (error) {
      // The team can still be led.
      this.#problem(error);
    }
  }

  /**
   * Sends a line to the lead. During a turn the line waits in its inbox, and the turn ends at its next step.
   * @returns how the prompt ended; resolves when the lead has nothing left to do and no teammate works
   */
  async prompt(text: string): Promise<PromptEnd> {
    if (this.#isClosing || this.#state.endReason !== undefined)
      throw refused("This session has ended, or is closing.", "Open it again with session/load.");
    if (this.#prompts.size >= MAX_OPEN_PROMPTS)
      throw refused(`${MAX_OPEN_PROMPTS} prompts are already waiting.`, "Wait for one to end, or cancel.");
    const prompt = this.#nextPrompt;
    this.#nextPrompt += 1;
    // Even if the prompt is cancelled before a turn takes it: the user works with this team.
    this.#lead.lead.hasOwnInput = true;
    const end = new Promise<PromptEnd>((resolve) => this.#prompts.set(prompt, resolve));
    this.#step({ type: "prompted", prompt });
    this.#saving = this.#saving.then(() => this.#save(prompt, text));
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
    // Not before: the line may have answered a question.
    this.#attempt(() => this.#requests?.offerAgain());
  }

  /** Makes the first prompt the team's description, unless the team has a description. */
  async #describe(text: string): Promise<void> {
    const title = shortened(oneLine(text), MAX_TITLE);
    let isNew = false;
    try {
      await updateTeam(this.#lead.lead.ctx.ref, (config) => {
        isNew = !config.description;
        return isNew ? { ...config, description: title } : undefined;
      });
      if (isNew) this.#peer.show({ kind: "title", title });
    } catch (error) {
      this.#problem(error);
    }
  }

  /** Interrupts the lead, and drops the waiting prompts. Teammates continue. */
  cancel(): void {
    const inTurn = this.#lead.worker.interrupt();
    this.#step({ type: "cancelled", inTurn });
  }

  /** Changes the lead's mode, from its next tool call on. @throws TeamError PERMISSION_DENIED if a setting forbids the mode */
  async setMode(mode: PermissionMode): Promise<void> {
    const { lead, worker } = this.#lead;
    await setPermissionMode(lead.ctx, LEAD_NAME, mode, {
      decider: "person",
      forbidden: bypassForbiddenBy(lead.settings(), lead.ctx.env),
    });
    // The watch of the team's config may notice the change only after the next prompt.
    worker.planApproval.setMode(mode);
    await worker.permissionRequests.reconsider();
  }

  /** Ends the lead and its teammates, and keeps the team. @param reason a signal of this process, if there was one */
  async close(reason?: unknown): Promise<void> {
    this.#isClosing = true;
    // A line that the client has sent is kept, unless it was cancelled.
    await this.#saving.then(() => this.#withdrawing);
    this.#ending.abort(reason);
    await this.#closed;
  }

  #onRest(rest: LeadRest): void {
    // The answer to a prompt comes after everything that belongs to it.
    this.#check();
    this.#step({ type: "rested", rest, failure: this.#running?.worker.lastFailure });
  }

  /** Shows the changes of other processes. */
  #check(): void {
    if (this.#running === undefined) return;
    const { lead } = this.#running;
    this.#attempt(() => {
      this.#showCallsOfTeammates();
      this.#requests?.check();
      this.#tasks.check(lead.ctx.ref);
      this.usage.check(lead);
    });
  }

  /** Runs an action on the team's files. Ignores a missing team: the lead may have deleted it, and may create the next. */
  #attempt(act: () => void): void {
    try {
      act();
      this.#checks.succeeded();
    } catch (error) {
      if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) this.#checks.failed(error);
    }
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
      case "withdraw": {
        const earlier = this.#withdrawing;
        this.#withdrawing = this.#lead.worker.clientInput.withdraw([effect.key]).then(() => earlier);
        return;
      }
      case "interrupt":
        this.#lead.worker.interrupt();
        return;
      case "activity":
        this.#peer.activity?.(effect.activity);
    }
  }
}

function refused(message: string, hint: string): TeamError {
  return new TeamError("INVALID_INPUT", `${message} Nothing was sent.`, { hint });
}
