import { messageOf, TeamError } from "../../errors.ts";
import { awaitReady } from "../../launch/await-ready.ts";
import { discardLaunch, prepareStarts } from "../../launch/prepare.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import { isDoneWithin } from "../../os/done-within.ts";
import { containErrors, runAsAgent } from "../../os/env.ts";
import { entryOf, isDirectory, readText, removeFile } from "../../os/files/fs.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { endTree } from "../../os/process/process-tree.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { inProcessPlace } from "../../team/records/read-records.ts";
import { LEFTOVER_GRACE_MS, noLogFile, READY_TIMEOUT_MS, withInstanceMarker } from "../await-start.ts";
import type { Backend, SpawnOutcome, SpawnRequest } from "../backend.ts";
import { singleCommandError } from "../choose-backend.ts";
import { logTail, visibleRowsOfLog } from "../visible-rows.ts";
import { endInOtherProcess, isInOtherProcess } from "./other-process.ts";
import {
  type EndSignal,
  type InProcessAgent,
  Resident,
  type RunWorker,
  recordEnd,
} from "./resident-agent.ts";
import { type InProcessEvent, isOver, nextInProcess, toInProcessEvent } from "./states.ts";

interface InProcessOptions {
  /** Runs a teammate. Without it, no teammate can be started, because the process of a single command exits. */
  readonly runWorker?: RunWorker;
  /** Milliseconds until a teammate must be ready. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  /** Receives the error if an ending could not be recorded. */
  problem?(text: string): void;
}

export interface InProcessBackend extends Backend {
  /** The agents that were started in this process and not closed, oldest first. */
  agents(): readonly InProcessAgent[];
  /** Calls the listener after each change of a state or an output. @returns a function that unsubscribes */
  watch(listener: () => void): () => void;
  /** True if no agent is working or waiting for an answer. */
  areAllIdle(): boolean;
  /** Resolves when all agents are idle; at once if there are no agents. */
  whenAllIdle(): Promise<void>;
  /** Ends each agent whose end another process has requested with a file, and forgets each agent that another process has closed. */
  handleEndRequests(): void;
  /** Ends all agents because the terminal of this process is gone, as for agents in panes. */
  hangUp(): Promise<void>;
}

/** Creates the backend for teammates in their lead's process. Each has its own conversation, records, environment and directory. */
export function inProcessBackend(options: InProcessOptions = {}): InProcessBackend {
  const residents = new InProcessAgents(options);
  // A plain object, like every backend: wrappers copy its functions with a spread.
  return {
    type: "in-process",
    spawn: (requests) => residents.spawn(requests),
    present: (places) => residents.present(places),
    capture: async ({ logFile }, lines) => (logFile === undefined ? undefined : logTail(logFile, lines)),
    visibleRows: async ({ logFile }) => (logFile === undefined ? undefined : visibleRowsOfLog(logFile)),
    end: (place, graceMs) => residents.end(place, graceMs),
    close: (places) => residents.close(places),
    agents: () => residents.agents(),
    watch: (listener) => residents.watch(listener),
    areAllIdle: () => residents.areAllIdle(),
    whenAllIdle: () => residents.whenAllIdle(),
    handleEndRequests: () => residents.handleEndRequests(),
    hangUp: () => residents.hangUp(),
  };
}

/** The agents of this process and their life cycle. */
class InProcessAgents {
  readonly #options: InProcessOptions;
  readonly #clock: Clock;
  readonly #residents = new Map<string, Resident>();
  readonly #listeners = new Set<() => void>();
  #release: (() => void) | undefined;

  constructor(options: InProcessOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async spawn(wanted: readonly SpawnRequest[]): Promise<readonly SpawnOutcome[]> {
    const { runWorker } = this.#options;
    if (runWorker === undefined) throw singleCommandError();
    const requests = withInstanceMarker(wanted);
    await prepareStarts(requests.map(({ paths }) => paths));
    return Promise.all(
      requests.map((request) =>
        this.#start(request, runWorker).catch(
          (error: Error): SpawnOutcome => ({ ok: false, name: request.name, error }),
        ),
      ),
    );
  }

  async present(places: readonly PlaceRecord[]): Promise<ReadonlySet<string>> {
    return new Set(places.filter((place) => this.#isThere(place)).map(({ instance }) => instance));
  }

  async end(place: PlaceRecord, graceMs: number): Promise<readonly number[]> {
    const resident = this.#residents.get(place.instance);
    if (resident === undefined) return endInOtherProcess(place, graceMs);
    return (await this.#end(resident, graceMs)) ? [] : [ownIdentity().pid];
  }

  async close(places: readonly PlaceRecord[]): Promise<void> {
    for (const { instance, logFile } of places) {
      this.#forget(instance);
      if (logFile !== undefined) removeFile(logFile);
    }
  }

  agents(): readonly InProcessAgent[] {
    return [...this.#residents.values()];
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  areAllIdle(): boolean {
    return [...this.#residents.values()].every(({ state }) => state === "idle" || isOver(state));
  }

  whenAllIdle(): Promise<void> {
    if (this.areAllIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.watch(() => {
        if (!this.areAllIdle()) return;
        stop();
        resolve();
      });
    });
  }

  handleEndRequests(): void {
    for (const [instance, resident] of this.#residents) {
      const { endWanted, log } = resident.request.paths;
      if (isOver(resident.state) && entryOf(log) === undefined) this.#forget(instance);
      else if (readText(endWanted) === instance) this.#requestEnd(resident);
    }
  }

  async hangUp(): Promise<void> {
    await Promise.all(
      [...this.#residents.values()].map((resident) => this.#end(resident, HANGUP_GRACE_MS, "SIGHUP")),
    );
  }

  async #start(request: SpawnRequest, runWorker: RunWorker): Promise<SpawnOutcome> {
    const { name, instance, paths, cwd } = request;
    if (!isDirectory(cwd)) {
      discardLaunch(paths);
      return { ok: false, name, error: missingDirectory(name, cwd) };
    }
    const place = inProcessPlace(ownIdentity(), instance, paths, this.#clock.now());
    let resident: Resident;
    try {
      resident = new Resident(request);
    } catch (cause) {
      discardLaunch(paths);
      return { ok: false, name, error: noLogFile(request, cause) };
    }
    this.#residents.set(instance, resident);
    this.#updateContainment();
    const { agentId, env, signal } = request;
    const agent = { agentId, env, failed: (error: unknown) => this.#failed(resident, error) };
    try {
      request.onPlaced?.(place);
      resident.done = runAsAgent(agent, () => this.#run(resident, runWorker));
      const timeoutMs = this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS;
      await awaitReady(paths, { instance, name, timeoutMs, ...(signal && { signal }) });
      return { ok: true, name, place };
    } catch (cause) {
      await this.#rollBack(resident);
      const error =
        cause instanceof Error ? cause : new TeamError("SPAWN_FAILED", `${name} did not start.`, { cause });
      return { ok: false, name, error };
    }
  }

  async #run(resident: Resident, runWorker: RunWorker): Promise<void> {
    try {
      const code = await runWorker({
        request: resident.request,
        signal: resident.controller.signal,
        write: (text) => {
          resident.write(text);
          this.#changed();
        },
        reportState: (state) => this.#transition(resident, toInProcessEvent(state)),
        connect: (input) => {
          resident.input = input;
        },
        isOver: () => isOver(resident.state),
      });
      this.#finish(resident, code === 0 ? "returned" : "threw", code);
    } catch (error) {
      this.#failed(resident, error);
    }
  }

  /** Handles an error of one agent: the lead is notified as for a crashed process, and the others are not affected. */
  #failed(resident: Resident, error: unknown): void {
    if (isOver(resident.state)) return;
    resident.write(`teams: ${messageOf(error)}\n`);
    this.#finish(resident, "threw", 1);
    resident.controller.abort("SIGTERM");
  }

  #requestEnd(resident: Resident, signal: EndSignal = "SIGTERM"): void {
    this.#transition(resident, "end-requested");
    resident.controller.abort(signal);
  }

  /** Ends an agent. @returns whether its code returned in time; if not, the agent counts as killed and its code is ignored from now on */
  async #end(resident: Resident, graceMs: number, signal?: EndSignal): Promise<boolean> {
    this.#requestEnd(resident, signal);
    const isDone = await isDoneWithin(graceMs, resident.done);
    if (!isDone) this.#finish(resident, "given-up", 0);
    return isDone;
  }

  async #rollBack(resident: Resident): Promise<void> {
    const { instance, paths } = resident.request;
    this.#requestEnd(resident);
    const tree = { root: { pid: 0, procStart: "" }, host: ownIdentity(), marker: instance };
    await endTree(tree, { graceMs: LEFTOVER_GRACE_MS });
    await this.#end(resident, LEFTOVER_GRACE_MS);
    this.#forget(instance);
    discardLaunch(paths);
  }

  #finish(resident: Resident, event: InProcessEvent, code: number): void {
    if (isOver(resident.state)) return;
    this.#transition(resident, event);
    try {
      recordEnd(resident, code, this.#clock.now());
    } catch (error) {
      const text = `the ending of ${resident.name} could not be recorded: ${messageOf(error)}`;
      resident.write(`teams: ${text}\n`);
      this.#options.problem?.(text);
    }
    resident.log.close();
    this.#changed();
  }

  #transition(resident: Resident, event: InProcessEvent | undefined): void {
    if (event === undefined) return;
    resident.state = nextInProcess(resident.state, event);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #forget(instance: string): void {
    const resident = this.#residents.get(instance);
    if (resident === undefined) return;
    this.#residents.delete(instance);
    resident.log.close();
    this.#updateContainment();
    this.#changed();
  }

  /** Catches uncaught errors of agents while this process has agents. */
  #updateContainment(): void {
    if (this.#residents.size > 0) this.#release ??= containErrors();
    else {
      this.#release?.();
      this.#release = undefined;
    }
  }

  #isThere(place: PlaceRecord): boolean {
    const resident = this.#residents.get(place.instance);
    if (resident !== undefined) return !isOver(resident.state);
    return isInOtherProcess(place);
  }
}

/** Time limit in milliseconds for all agents to end when the terminal is gone; their commands get half a second of it. */
const HANGUP_GRACE_MS = 1_500;

function missingDirectory(name: string, cwd: string): TeamError {
  return new TeamError("SPAWN_FAILED", `${name} was not started: its directory ${cwd} does not exist.`, {
    hint: `Nothing was left behind. Create the directory, then spawn ${name} again.`,
    details: { exitCode: 1, lastLines: [] },
  });
}
