import { expectedDialog } from "../../adapter/inbox/claude-dialogs.ts";
import { ClaudeUsage } from "../../adapter/inbox/claude-usage.ts";
import { EXIT, messageOf, TeamError } from "../../errors.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import type { OperationContext } from "../../operations/context.ts";
import { judgeOwnInbox, type OwnInboxVerdict } from "../../operations/processes/foreign-facts.ts";
import { InterruptNotice } from "../../operations/processes/interrupt-notice.ts";
import { pause } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import type { ScreenProgram } from "../../os/process/screen-program.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, SYSTEM_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { HookRecord } from "../../schema/status.ts";
import { memberWord } from "../../team/address-words.ts";
import { readTeam } from "../../team/config/config.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { ForeignFacts, ForeignVerdict, TurnEnd } from "../../team/members/judge-foreign.ts";
import { changeMetadata, lookUpMember } from "../../team/members/members.ts";
import { rejoin } from "../../team/members/rejoin.ts";
import { readHook } from "../../team/records/hook-record.ts";
import { anyBell, type Bell } from "../../wakeup/bell.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";
import type { PeerReport } from "../../worker/status-record.ts";
import type { OwnInboxLimit } from "./own-inbox-limit.ts";
import {
  blockedReport,
  countTokens,
  EXPECTED_DIALOG_MS,
  hasConversation,
  isEnding,
  isInterrupted,
  isLateNotice,
  MARK_MS,
  reportOf,
  startReport,
} from "./own-inbox-report.ts";
import { type RunningTeammate, signalStatus } from "./running-teammate.ts";

/** A running CLI. */
interface Watched {
  readonly env: Env;
  /** The name of its adapter. */
  readonly id: string;
  readonly version: string | undefined;
  readonly mode: PermissionMode;
  readonly limit: OwnInboxLimit;
  /** Ends the CLI. */
  readonly end: () => void;
}

/** An idle CLI that leaves a message unread for this many milliseconds is blocked: it polls each second. */
const UNREAD_MS = 15_000;
/** Maximum milliseconds between two polls if no bell rings. */
const SLOW_MS = 10_000;
/** The same during a turn: no hook shows that a person ended the turn in the CLI's pane. */
const TURN_MS = 2_000;

/** Maximum reads of the lead's inbox for an agreement to shut down. */
const AGREEMENT_READS = 3;
/** Milliseconds between two of these reads. */
const AGREEMENT_PAUSE_MS = 100;

/** Reports the state of a CLI until it ends. */
export class OwnInboxWatch {
  readonly #self: RunningTeammate;
  readonly #ctx: OperationContext;
  readonly #watched: Watched;
  readonly #startedAt: number;
  readonly #usage: ClaudeUsage;
  readonly #interrupt: InterruptNotice;
  #entry: TeamMember;
  #isOver = false;
  /** The newest message that it had taken at the last poll; undefined before the first. */
  #lastTaken: number | undefined;
  #tookAt: number | undefined;
  /** The newest message began its own turn; it was not taken during the turn before. */
  #isTakenByOwnTurn = false;
  #queuedAt: number | undefined;
  /** When the newest turn that a hook has reported began. */
  #promptedAt = 0;
  #polledAt = 0;
  #turnEnds: readonly TurnEnd[] = [];
  #unreadSince: number | undefined;
  /** Whether the CLI was in a turn at the last poll. */
  #isInTurn = false;
  #problem = "";

  constructor(self: RunningTeammate, ctx: OperationContext, watched: Watched) {
    this.#self = self;
    this.#ctx = ctx;
    this.#watched = watched;
    this.#startedAt = ctx.clock.now();
    this.#usage = new ClaudeUsage(this.#startedAt);
    this.#interrupt = new InterruptNotice(self.ref, self.member);
    this.#entry = self.member;
  }

  /** @returns the exit status @throws TeamError SPAWN_FAILED */
  async until(screen: ScreenProgram): Promise<number> {
    const { ref, bell } = this.#self;
    const over = new AbortController();
    const ended = screen.ended.then((end) => {
      this.#isOver = true;
      over.abort();
      return end;
    });
    const bells = anyBell([
      bell,
      openFileBell(() => ref.paths.inbox(LEAD_NAME)),
      openFileBell(() => ref.paths.config),
    ]);
    try {
      await this.#follow(bells, over.signal);
      return await this.#exit(await ended);
    } finally {
      bells.close();
    }
  }

  async #follow(bells: Bell, signal: AbortSignal): Promise<void> {
    const { view } = this.#self;
    while (!signal.aborted) {
      let waitMs = SLOW_MS;
      try {
        waitMs = await this.#poll();
        this.#problem = "";
      } catch (error) {
        if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") {
          view.note("the team was deleted");
          this.#watched.end();
          return;
        }
        // The CLI continues to work, and the next poll tries again.
        if (messageOf(error) !== this.#problem) view.error(messageOf(error));
        this.#problem = messageOf(error);
      }
      await bells.wait({ signal, timeoutMs: waitMs });
    }
  }

  /** Reports the state. @returns milliseconds until the next poll */
  async #poll(): Promise<number> {
    const { ref, member, status } = this.#self;
    const { version, env, limit } = this.#watched;
    const config = readTeam(ref);
    this.#entry = lookUpMember(config, member.name) ?? this.#entry;
    if (lookUpMember(config, member.name) === undefined) await rejoin(ref, this.#entry, () => !this.#isOver);
    await openForeignRequests(ref, env);
    const pollAt = this.#ctx.clock.now();
    const hook = this.#hook();
    if (hook?.event === "prompted") this.#promptedAt = hook.at;
    const { verdict, facts, isInTurn } = this.#judge(hook);
    this.#polledAt = pollAt;
    const dialog = this.#dialog(verdict, facts, hook);
    const paused = await limit.poll(verdict, facts, pollAt);
    const report = dialog ?? paused ?? reportOf(verdict, facts);
    this.#isInTurn = dialog === undefined && isInTurn;
    const unset = {
      stateFrom: undefined,
      agreedToStop: undefined,
      limited: undefined,
      pausedUntil: undefined,
      startDialog: undefined,
    };
    status.reportPeer({ ...unset, ...report, version, newestTaken: this.#lastTaken });
    countTokens(this.#usage, hook, status);
    await this.#keepConversation(hook);
    const isUnconfirmed = await this.#interrupt.poll(verdict, facts, hook);
    if (report.state === "starting" || facts.unread > 0) return EXPECTED_DIALOG_MS;
    if (paused !== undefined) return limit.nextPoll(pollAt, SLOW_MS);
    return this.#isInTurn || isUnconfirmed ? TURN_MS : SLOW_MS;
  }

  #hook(): HookRecord | undefined {
    const { ref, member, io } = this.#self;
    const hook = readHook(ref, member.name);
    return hook?.instance === io.env.TEAMS_INSTANCE && (hook?.at ?? 0) >= this.#startedAt ? hook : undefined;
  }

  #judge(hook: HookRecord | undefined): OwnInboxVerdict {
    const now = this.#ctx.clock.now();
    const judged = judgeOwnInbox(this.#ctx, this.#entry, this.#seen(hook));
    this.#turnEnds = judged.facts.turnEnds;
    const hasTaken = this.#lastTaken !== undefined && judged.newestTaken > this.#lastTaken;
    this.#lastTaken = judged.newestTaken;
    if (hasTaken || judged.facts.unread === 0) this.#unreadSince = undefined;
    else this.#unreadSince ??= now;
    const noticedAt = judged.facts.turnEnds.at(-1)?.at ?? 0;
    if (!hasTaken) {
      const isLate = this.#isTakenByOwnTurn && isLateNotice(noticedAt, judged.newestTaken, this.#tookAt);
      if (!isLate) return judged;
      this.#tookAt = judged.newestTaken;
      return judgeOwnInbox(this.#ctx, this.#entry, this.#seen(hook));
    }
    const endedAt = Math.max(noticedAt, hook?.event === "resting" ? hook.at : 0);
    // Its turn may have ended since the last poll, and the message been sent after that.
    const isLater = endedAt >= this.#polledAt && judged.newestTaken > endedAt;
    // Its turn may have ended since the last poll: a call of the model that fails at once, or a busy machine.
    const isOfTurn = !this.#isInTurn || this.#promptedAt > judged.newestTaken;
    const isNew = noticedAt >= this.#polledAt - MARK_MS && noticedAt > judged.newestTaken;
    const isOver = isOfTurn && (isNew || isInterrupted(hook, judged.newestTaken, this.#polledAt));
    this.#isTakenByOwnTurn = isOfTurn;
    const isQueued = (this.#isInTurn && !isLater) || isEnding(judged.facts, hook);
    if (isQueued && !isOver) this.#queuedAt = now;
    this.#tookAt = isOver ? judged.newestTaken : now;
    return judgeOwnInbox(this.#ctx, this.#entry, this.#seen(hook));
  }

  #seen(hook: HookRecord | undefined): Parameters<typeof judgeOwnInbox>[2] {
    return {
      ...{ hook, tookAt: this.#tookAt, queuedAt: this.#queuedAt },
      ...{ startedAt: this.#startedAt, turnEnds: this.#turnEnds },
    };
  }

  /** Returns the report of a CLI that has not begun its session, or takes no messages: it shows a dialog, or is about to begin. */
  #dialog(
    { state, lastSignAt = 0 }: ForeignVerdict,
    { unread }: ForeignFacts,
    hook: HookRecord | undefined,
  ): PeerReport | undefined {
    const now = this.#ctx.clock.now();
    const { id } = this.#watched;
    const member = memberWord(this.#self.ref, this.#self.member.name);
    const hasBegun = hook !== undefined || this.#tookAt !== undefined || lastSignAt >= this.#startedAt;
    if (hasBegun) {
      const isStuck = unread > 0 && now - (this.#unreadSince ?? now) >= UNREAD_MS;
      const isFree = state === "idle" || state === "failed" || state === "unknown";
      return isStuck && isFree ? blockedReport(id, member, STUCK) : undefined;
    }
    const { env, mode } = this.#watched;
    const expected = expectedDialog(env, this.#self.io.cwd, mode);
    return startReport({ id, member, msSinceStart: now - this.#startedAt, expected });
  }

  /** Records its conversation once it can be continued, and again if another program dropped it from the config. */
  async #keepConversation(hook: HookRecord | undefined): Promise<void> {
    const { ref, member } = this.#self;
    const { conversation } = hook ?? {};
    if (conversation === undefined || conversation === readMetadata(this.#entry, "conversation")) return;
    if (!hasConversation(hook)) return;
    await changeMetadata(ref, member.name, { conversation });
  }

  async #exit({ how, isDeliberate }: Awaited<ScreenProgram["ended"]>): Promise<number> {
    const { status, signal } = this.#self;
    const { id, version } = this.#watched;
    const ended = { state: "exited" as const, stateFrom: undefined, activity: "", version };
    countTokens(this.#usage, this.#hook(), status);
    if (await this.#hasAgreed()) {
      status.reportPeer({ ...ended, agreedToStop: true });
      return EXIT.done;
    }
    if (signal.aborted || !isDeliberate) await this.#leaveNote();
    if (signal.aborted) {
      status.reportPeer(ended);
      return signalStatus(signal);
    }
    if (isDeliberate) {
      status.reportPeer(ended);
      return EXIT.done;
    }
    throw new TeamError("SPAWN_FAILED", `${id} ended: ${how}.`, {
      hint: "Its last output is above. To continue its conversation: teams resume",
    });
  }

  /** Sends a message for the next start if the CLI ended during a turn: a restart continues the conversation, but not the turn. */
  async #leaveNote(): Promise<void> {
    const { ref, member } = this.#self;
    if (!this.#isInTurn) return;
    try {
      await sendMessage(ref, { from: SYSTEM_NAME, to: member.name, text: CONTINUE });
    } catch (error) {
      // Its team may be gone. The end itself is recorded by its launch script.
      this.#self.view.error(messageOf(error));
    }
  }

  /** Reads more than once: another program may be writing the lead's inbox. */
  async #hasAgreed(): Promise<boolean> {
    for (let left = AGREEMENT_READS; left > 0; left -= 1) {
      try {
        if (judgeOwnInbox(this.#ctx, this.#entry, this.#seen(undefined)).facts.agreedToStop) return true;
      } catch (error) {
        // The team is gone, or a file is broken: then its exit status decides.
        this.#self.view.error(messageOf(error));
        return false;
      }
      if (left > 1) await pause(AGREEMENT_PAUSE_MS);
    }
    return false;
  }
}

const STUCK = { name: "a dialog", remedy: "answer it; a message is waiting" };
const CONTINUE = "Your process ended during a turn, and was started again. Continue where you stopped.";
