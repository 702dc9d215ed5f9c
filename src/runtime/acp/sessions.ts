import { isAbsolute } from "node:path";
import type {
  AgentContext,
  McpServer,
  PromptRequest,
  PromptResponse,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import { messageOf, TeamError } from "../../errors.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { teamExists } from "../../team/config/config.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { isKnownEmpty, setKnownEmpty } from "../../team/records/empty-sessions.ts";
import { teamRef, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { capturedIo } from "../../terminal/captured-io.ts";
import { openOutput } from "../../terminal/output.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { LeadPlan } from "../lead/lead.ts";
import { openOwnTeam, operationContext } from "../operation-context.ts";
import { type ClientAbilities, ClientPeer } from "./client-peer.ts";
import { MAX_SESSIONS } from "./limits.ts";
import { serversOf } from "./mcp-servers.ts";
import { promptText } from "./prompt-text.ts";
import { NEEDS_LOGIN } from "./rpc-errors.ts";
import { Session } from "./session.ts";
import { deleteAbandoned, deleteSession, requireFinished } from "./session-delete.ts";
import { newSessionId } from "./session-list.ts";
import { modeNamed, modesOf } from "./session-modes.ts";
import { activityOf, type PromptEnd } from "./session-state.ts";

/** The choices for a session before its team is created or resumed. */
export interface SessionChoice {
  readonly call: AnyCall;
  readonly team: string;
  readonly isResumed: boolean;
}

export interface SessionsOptions {
  readonly call: AnyCall;
  /** The agent works alone, without team tools. */
  readonly isAlone: boolean;
  /** Checks the options of the command for a session, in its directory. @throws TeamError */
  plan(choice: SessionChoice): Promise<LeadPlan>;
  /** Called when a client does not read its updates. */
  onStalled(): void;
}

/** The request that opens a session. */
interface OpenRequest {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | null;
}

interface OpenHow {
  readonly client: AgentContext;
  readonly abilities: ClientAbilities;
  readonly isResumed: boolean;
  readonly replays: boolean;
}

interface OpenSession {
  readonly session: Session;
  readonly peer: ClientPeer;
  readonly modes: () => SessionModeState;
}

/** The sessions of one client of protocol version 1, each with the lead of its team in this process. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, OpenSession>();
  readonly #opening = new Map<string, Promise<OpenSession>>();
  #isClosing = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Creates a team. @throws TeamError as `teams run` does */
  async create(request: OpenRequest, client: AgentContext, abilities: ClientAbilities) {
    const { call } = this.#options;
    await deleteAbandoned(call, call.out.note);
    const sessionId = newSessionId();
    const open = await this.#begin(sessionId, request, {
      client,
      abilities,
      isResumed: false,
      replays: false,
    });
    return { sessionId, modes: open.modes() };
  }

  /**
   * Resumes a team that no process leads. A session whose team was deleted because it never had a prompt gets a new team.
   * @param replays true if the client gets the conversation first
   * @throws TeamError TEAM_NOT_FOUND, ALREADY_LEADING, INVALID_INPUT
   */
  async resume(
    request: OpenRequest & { readonly sessionId: string },
    client: AgentContext,
    { abilities, replays }: { readonly abilities: ClientAbilities; readonly replays: boolean },
  ) {
    const { sessionId } = request;
    const { io, out } = this.#options.call;
    const isEmpty = this.#wasEmpty(sessionId);
    const open = await this.#begin(sessionId, request, {
      client,
      abilities,
      isResumed: !isEmpty,
      replays: replays && !isEmpty,
    });
    // The session is open even if the list cannot be changed.
    if (isEmpty)
      await setKnownEmpty(teamsHome(io.env), sessionId, false).catch((error: unknown) =>
        out.note(stripControls(messageOf(error))),
      );
    return { modes: open.modes() };
  }

  async prompt({ sessionId, prompt }: PromptRequest): Promise<PromptResponse> {
    const text = promptText(prompt);
    const { session } = this.#find(sessionId);
    const end = await session.prompt(text);
    const { input, output, cacheRead, cacheWrite } = session.usage.take();
    const usage = {
      inputTokens: input,
      outputTokens: output,
      cachedReadTokens: cacheRead,
      cachedWriteTokens: cacheWrite,
    };
    return { stopReason: stopReasonOf(end), _meta: { usage } };
  }

  cancel(sessionId: string): void {
    this.#open.get(sessionId)?.session.cancel();
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    const { session, modes } = this.#find(sessionId);
    const mode = modeNamed(modeId);
    const { availableModes } = modes();
    if (mode === undefined || !availableModes.some(({ id }) => id === mode))
      throw new TeamError("INVALID_INPUT", `${JSON.stringify(modeId)} is not a mode of this session.`, {
        hint: `Choose one of: ${availableModes.map(({ id }) => id).join(", ")}`,
      });
    await session.setMode(mode);
  }

  /** Cancels the prompts of a session, ends its lead and teammates, and keeps its team unless it never had a prompt. */
  async close(sessionId: string): Promise<void> {
    const { session } = this.#find(sessionId);
    session.cancel();
    await session.close();
  }

  /**
   * Deletes the team of a session, which may be open here. A team with unfinished work stays.
   * @throws TeamError TEAM_NOT_FOUND, ALREADY_LEADING, ACTIVE_MEMBERS, AGENT_BUSY, PERMISSION_DENIED; then the team is kept
   */
  async delete(sessionId: string): Promise<void> {
    const { call } = this.#options;
    const home = teamsHome(call.io.env);
    if (this.#wasEmpty(sessionId)) return setKnownEmpty(home, sessionId, false);
    const own = openOwnTeam(call.io.env, { force: false }, sessionId);
    const ctx = await operationContext(call, own);
    const open = this.#open.get(sessionId);
    const isWorking = open !== undefined && activityOf(open.session.state) !== "idle";
    if (isWorking || this.#opening.has(sessionId))
      throw new TeamError("AGENT_BUSY", `The session ${sessionId} is working. Nothing was deleted.`, {
        hint: "Wait until its prompts have ended, or cancel them with session/cancel.",
      });
    if (open !== undefined) {
      await requireFinished(ctx);
      await open.session.close();
    }
    // A session that never had a prompt deletes its team when it closes.
    if (open === undefined || teamExists(own.ref)) await deleteSession(ctx);
    await setKnownEmpty(home, sessionId, false);
  }

  /**
   * Ends all sessions for good, including those that are being opened.
   * @param reason the signal that ends this process, if there was one
   */
  async closeAll(reason: unknown): Promise<void> {
    this.#isClosing = true;
    const opening = [...this.#opening.values()].map((open) => open.catch(() => undefined));
    const all = [...this.#open.values(), ...opening].map(async (open) => (await open)?.session.close(reason));
    await Promise.all(all);
  }

  /** Whether the team of a session was deleted because it never had a prompt. */
  #wasEmpty(sessionId: string): boolean {
    const home = teamsHome(this.#options.call.io.env);
    return isKnownEmpty(home, sessionId) && !teamExists(teamRef(home, sessionId));
  }

  #find(sessionId: string): OpenSession {
    const open = this.#open.get(sessionId);
    if (open !== undefined) return open;
    throw new TeamError("TEAM_NOT_FOUND", `The session ${JSON.stringify(sessionId)} is not open here.`, {
      hint: "Open it with session/load or session/resume.",
    });
  }

  async #begin(sessionId: string, request: OpenRequest, how: OpenHow): Promise<OpenSession> {
    if (this.#isClosing)
      throw new TeamError("INTERRUPTED", "This process is shutting down. No session was opened.");
    if (this.#open.has(sessionId) || this.#opening.has(sessionId))
      throw new TeamError("ALREADY_LEADING", `The session ${sessionId} is already open in this process.`, {
        hint: "Use it, or close it first with session/close.",
      });
    if (this.#open.size + this.#opening.size >= MAX_SESSIONS)
      throw new TeamError(
        "ALREADY_LEADING",
        `This process already leads ${MAX_SESSIONS} sessions, the maximum. No session was opened.`,
        { hint: "Close a session first, or start another process." },
      );
    const opening = this.#start(sessionId, request, how);
    this.#opening.set(sessionId, opening);
    try {
      const open = await opening;
      if (open.session.state.endReason === undefined) this.#open.set(sessionId, open);
      // After the answer, which names the session, was written.
      setImmediate(() => open.peer.opened());
      return open;
    } finally {
      this.#opening.delete(sessionId);
    }
  }

  async #start(
    sessionId: string,
    { cwd, mcpServers }: OpenRequest,
    { client, abilities, isResumed, replays }: OpenHow,
  ): Promise<OpenSession> {
    const { call, isAlone, plan, onStalled } = this.#options;
    const directory = directoryOf(cwd);
    const io = sessionIo(call, directory);
    const own: AnyCall = {
      ...call,
      io,
      out: openOutput(io, QUIET),
      options: { ...call.options, json: false },
    };
    const checked = await plan({ call: own, team: sessionId, isResumed });
    const servers = serversOf(mcpServers ?? []);
    const home = teamsHome(io.env);
    const peer = new ClientPeer(
      {
        ...{ client, sessionId, abilities, onStalled, cwd: directory },
        ref: () => findTeam(home, sessionId),
        ended: () => void this.#open.delete(sessionId),
      },
      replays,
    );
    const session = await Session.open({
      call: own,
      plan: { ...checked, mcpServers: servers },
      peer,
      replays,
    });
    const modes = (): SessionModeState =>
      modesOf(session.mode, { isAlone, isBypassForbidden: session.isBypassForbidden });
    return { session, peer, modes };
  }
}

const QUIET = { json: false, quiet: true, verbose: false };

/** The lead's output goes to the client; stdout belongs to the protocol. */
function sessionIo({ io }: AnyCall, cwd: string): AnyCall["io"] {
  const { env, argv, program } = io;
  const drop = (): void => undefined;
  const captured = capturedIo({ program }, { argv, env, cwd, write: drop, signal: io.interruption() });
  return { ...captured, endedTmux: io.endedTmux, err: io.err };
}

/** @throws TeamError INVALID_INPUT unless it is the absolute path of a directory */
function directoryOf(cwd: string): string {
  if (isAbsolute(cwd) && !cwd.includes("\0") && isDirectory(cwd)) return realPathOf(cwd);
  throw new TeamError("INVALID_INPUT", `${JSON.stringify(cwd)} is not the absolute path of a directory.`, {
    hint: "Open the session in an existing directory.",
  });
}

/** Details of a prompt that failed because the model's key is wrong or missing. */
const WRONG_KEY = {
  hint: "Set the right key in the environment of teams acp, start it again, and load this session.",
  details: NEEDS_LOGIN,
};

/** @throws TeamError MODEL_ERROR if the prompt failed */
function stopReasonOf(end: PromptEnd): PromptResponse["stopReason"] {
  if (end.how === "failed") throw new TeamError("MODEL_ERROR", end.failure, end.needsLogin ? WRONG_KEY : {});
  return end.how === "done" ? "end_turn" : "cancelled";
}
