import { randomUUID } from "node:crypto";
import { DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import type { SpawnRequest } from "../../backend/backend.ts";
import { withoutRepository } from "../../git/git.ts";
import { childEnvironment } from "../../launch/agent-environment.ts";
import { type AgentFlags, agentArgv } from "../../launch/agent-flags.ts";
import { type ShellSnapshot, snapshotVariable } from "../../launch/shell-snapshot.ts";
import { plainText } from "../../protocol/messages.ts";
import { rootTag } from "../../protocol/paths.ts";
import { permissionMode, type TeamConfig, type TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { lookUpMember, removeMember } from "../../team/members/members.ts";
import { claimStarts, type NewPlace, releaseStartClaims } from "../../team/members/start-claims.ts";
import { readPlace, readStatus, removeRun, syncPlaces } from "../../team/records/read-records.ts";
import { createSessionEnv, removeSessionEnv } from "../../team/records/session-env.ts";
import type { OperationContext } from "../context.ts";
import { endPreviousStart } from "../ending/clear-previous-start.ts";
import { recordedLimits } from "./tool-limits.ts";

/** A member in the team's config, with the request that starts its process. */
export interface Start {
  readonly member: TeamMember;
  readonly request: SpawnRequest;
}

/**
 * Builds the request that starts a member's process.
 * @param again the uuid of this start and the conversation to resume; by default a new uuid and a new conversation
 */
export function buildStart(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
  snapshot: ShellSnapshot | undefined,
  again: { readonly instance?: string | undefined; readonly session?: string | undefined } = {},
): Start {
  const paths = ctx.ref.paths.agent(member.name);
  const { instance = randomUUID() } = again;
  const mode = permissionMode.safeParse(member.mode);
  const flags: AgentFlags = defined({
    agentId: member.agentId,
    agentName: member.name,
    teamName: ctx.ref.team as string,
    agentColor: member.color,
    parentSessionId: config.leadSessionId,
    agentType: member.agentType ?? DEFAULT_AGENT_TYPE,
    planModeRequired: member.planModeRequired ?? false,
    permissionMode: mode.success ? mode.data : undefined,
    ...recordedLimits(member),
    model: member.model,
    ownScreen: readMetadata(member, "ownScreen"),
    // A program that only gets typed input does not report its start itself.
    awaitsProgram: readMetadata(member, "typed"),
    resume: again.session,
  });
  const env = { ...ctx.env, NODE_OPTIONS: ctx.nodeOptions };
  const request: SpawnRequest = {
    agentId: member.agentId,
    name: member.name,
    team: ctx.ref.team,
    teamTitle: config.displayName ?? config.name,
    color: member.color ?? "",
    rootTag: rootTag(ctx.home.root),
    instance,
    cwd: member.cwd,
    argv: [...ctx.program, "agent", ...agentArgv(flags)],
    // In a worktree, the working directory decides which repository git uses, so inherited GIT_ variables are dropped.
    env: childEnvironment(member.worktreePath === undefined ? env : withoutRepository(env), {
      ...snapshotVariable(snapshot),
      TEAMS_INSTANCE: instance,
    }),
    paths,
    ...(flags.awaitsProgram === undefined ? {} : { awaitsProgram: true }),
    bells: [readStatus(ctx.ref, LEAD_NAME)?.bell ?? ctx.ref.paths.agent(LEAD_NAME).bell],
  };
  return { member, request };
}

/**
 * Creates the directory of the session's variables, and puts the spawn prompt into the member's inbox, where the agent finds it at
 * its start. Idempotent: after a killed start, the same message id prevents a second delivery.
 */
export async function deliverPrompt({ home, ref }: OperationContext, member: TeamMember): Promise<void> {
  const { name, prompt, joinedAt } = member;
  createSessionEnv(home, readMetadata(member, "session"));
  if (!prompt) return;
  const messageId = eventMessageId("prompt", member.agentId, String(joinedAt));
  await sendMessage(ref, { from: LEAD_NAME, to: name, text: plainText(prompt), messageId });
}

/** Returns a member's `tmuxPaneId`; other programs recognise a member without a pane by the name of its place. */
export function paneIdInConfig({ paneId, backend }: Pick<PlaceRecord, "paneId" | "backend">): string {
  return backend === "in-process" ? backend : (paneId ?? "");
}

export interface PaneRecorder {
  placed(name: string, place: PlaceRecord): void;
  /** Resolves when all panes are recorded; tries again first if the last attempt failed. */
  done(): Promise<void>;
}

/**
 * Records each member's pane in the team's config while the agents start; panes that arrive together share one write. A recorded
 * pane makes the member's liveness known, so its start claim is released. Panes of a failed write are part of the next one.
 */
export function paneRecorder({ ref }: OperationContext, members: readonly TeamMember[]): PaneRecorder {
  const waiting = new Map<string, NewPlace>();
  let last: Promise<void> = Promise.resolve();
  const record = async (): Promise<void> => {
    const places = new Map(waiting);
    if (places.size === 0) return;
    await syncPlaces(ref, [...places.keys()]);
    const claims = members.flatMap((member) => {
      const claim = places.has(member.name) ? readMetadata(member, "startClaim") : undefined;
      return claim === undefined ? [] : [[member.name, claim] as const];
    });
    await releaseStartClaims(ref, new Map(claims), places);
    for (const [name, place] of places) if (waiting.get(name) === place) waiting.delete(name);
  };
  return {
    placed(name, place) {
      waiting.set(name, { tmuxPaneId: paneIdInConfig(place) });
      last = last.then(record, record);
      // `done` rejects with this error; this only prevents an unhandled rejection.
      last.catch(() => undefined);
    },
    done: () => {
      last = last.catch(record);
      return last;
    },
  };
}

/**
 * Removes members with these names whose first start was cut off because the spawning process died. Without this, they would
 * block their names. A member with a worktree stays, for resume or kill.
 */
export async function removeInterruptedStarts(
  ctx: OperationContext,
  drafts: readonly { readonly name: string }[],
): Promise<void> {
  const { ref } = ctx;
  const isCutOff = (member: TeamMember): boolean =>
    drafts.some(({ name }) => sameName(name, member.name)) &&
    readMetadata(member, "startClaim")?.first === true &&
    member.worktreePath === undefined &&
    readStatus(ref, member.name) === undefined &&
    judgeLiveness(member, { status: undefined, place: readPlace(ref, member.name), exit: undefined })
      .alive === false;
  if (!readTeam(ref).members.some(isCutOff)) return;
  // Claimed, so that a concurrent resume does not start the member.
  const claims = await claimStarts(ref, (member) => (isCutOff(member) ? { session: undefined } : undefined));
  for (const [name, claim] of claims) {
    await endPreviousStart(ctx, name, claim);
    const member = lookUpMember(readTeam(ref), name);
    if (member !== undefined) await removeFailedStart(ctx, member);
  }
}

/**
 * Removes a member and its records after its start failed; the backend has already cleaned up its part. If the member was removed
 * meanwhile, its name may have a new holder, which stays.
 */
export async function removeFailedStart({ home, ref }: OperationContext, member: TeamMember): Promise<void> {
  const { name, joinedAt } = member;
  if (await removeMember(ref, name, joinedAt)) removeRun(ref, name);
  removeSessionEnv(home, readMetadata(member, "session"));
}
