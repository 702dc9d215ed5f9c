import { messageOf, TeamError } from "../../errors.ts";
import { awaitReady } from "../../launch/await-ready.ts";
import { discardLaunch, prepareStarts } from "../../launch/prepare.ts";
import { containErrors, runAsAgent } from "../../os/agent-scope.ts";
import { type Clock, pause, systemClock } from "../../os/clock.ts";
import { entryOf, isDirectory, readText, removeFile } from "../../os/files/fs.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { endTree } from "../../os/process/process-tree.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { inProcessPlace } from "../../team/records/read-records.ts";
import { READY_TIMEOUT_MS, withInstanceMarker } from "../await-start.ts";
import type { Backend, SpawnOutcome, SpawnRequest } from "../backend.ts";
import { sightOfLog, tailOfLog } from "../visible-rows.ts";
import { endElsewhere, isInOtherProcess } from "./other-process.ts";
import {
  type EndSignal,
  type InProcessAgent,
  Resident,
  type RunWorker,
  recordEnd,
} from "./resident-agent.ts";
import { type InProcessEvent, isOver, nextInProcess, toInProcessEvent } from "./states.ts";

interface InProcessOptions {
  /** Without it nobody can be started: a single command's process ends. */
  readonly runWorker?: RunWorker;
  /** Milliseconds within which a teammate has to announce itself. */
  readonly readyTimeoutMs?: number;
  readonly clock?: Clock;
  /** Hears what nobody else can be told of one that has ended. */
  problem?(text: string): void;
}

export interface InProcessBackend extends Backend {
  /** Those that were started here and not closed, oldest first. */
  agents(): readonly InProcessAgent[];
  /** Hears of every change of state and of what one shows. @returns ends that */
  watch(listener: () => void): () => void;
  /** Whether none of them is at work or waits for an answer. */
  areAllIdle(): boolean;
  /** Resolves when that is so; at once where there are none. */
  whenAllIdle(): Promise<void>;
  /** Ends those whose end another process has asked for by its file; forgets those that another has closed. */
  lookForWishes(): void;
  /** This process's terminal has gone, and it ends: so do they, as those in panes do with theirs. */
  hangUp(): Promise<void>;
}

/** Teammates in the process of their lead: each with its own conversation, records, environment and directory. */
export function inProcessBackend(options: InProcessOptions = {}): InProcessBackend {
  const home = new InProcess(options);
  // An object of its own functions, as every backend is: who stands between takes it apart.
  return {
    type: "in-process",
    spawn: (requests) => home.spawn(requests),
    present: (places) => home.present(places),
    capture: async ({ logFile }, lines) => (logFile === undefined ? undefined : tailOfLog(logFile, lines)),
    sight: async ({ logFile }) => (logFile === undefined ? undefined : sightOfLog(logFile)),
    end: (place, graceMs) => home.end(place, graceMs),
    close: (places) => home.close(places),
    agents: () => home.agents(),
    watch: (listener) => home.watch(listener),
    areAllIdle: () => home.areAllIdle(),
    whenAllIdle: () => home.whenAllIdle(),
    lookForWishes: () => home.lookForWishes(),
    hangUp: () => home.hangUp(),
  };
}

/** All that live here. */
class InProcess {
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
    if (runWorker === undefined) throw nobodyCanBeStarted();
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
    if (resident === undefined) return endElsewhere(place, graceMs);
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

  lookForWishes(): void {
    for (const [instance, resident] of this.#residents) {
      const { endWanted, log } = resident.request.paths;
      if (isOver(resident.state) && entryOf(log) === undefined) this.#forget(instance);
      else if (readText(endWanted) === instance) this.#want(resident);
    }
  }

  async hangUp(): Promise<void> {
    await Promise.all([...this.#residents.values()].map((one) => this.#end(one, HANGUP_GRACE_MS, "SIGHUP")));
  }

  async #start(request: SpawnRequest, runWorker: RunWorker): Promise<SpawnOutcome> {
    const { name, instance, paths, cwd } = request;
    if (!isDirectory(cwd)) {
      discardLaunch(paths);
      return { ok: false, name, error: noDirectory(name, cwd) };
    }
    const place = inProcessPlace(ownIdentity(), instance, paths, this.#clock.now());
    const resident = new Resident(request);
    this.#residents.set(instance, resident);
    this.#contain();
    const { agentId, env, signal } = request;
    const agent = { agentId, env, failed: (error: unknown) => this.#failed(resident, error) };
    try {
      request.placed?.(place);
      resident.done = runAsAgent(agent, () => this.#run(resident, runWorker));
      const timeoutMs = this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS;
      await awaitReady(paths, { instance, name, timeoutMs, ...(signal && { signal }) });
      return { ok: true, name, place };
    } catch (cause) {
      await this.#takeBack(resident);
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
        said: (state) => this.#happened(resident, toInProcessEvent(state)),
        reach: (hands) => {
          resident.hands = hands;
        },
        isOver: () => isOver(resident.state),
      });
      this.#over(resident, code === 0 ? "returned" : "threw", code);
    } catch (error) {
      this.#failed(resident, error);
    }
  }

  /** What it threw stays its own: the lead hears of it as of a crashed process. */
  #failed(resident: Resident, error: unknown): void {
    if (isOver(resident.state)) return;
    resident.write(`teams: ${messageOf(error)}\n`);
    this.#over(resident, "threw", 1);
    resident.controller.abort("SIGTERM");
  }

  #want(resident: Resident, signal: EndSignal = "SIGTERM"): void {
    this.#happened(resident, "wanted");
    resident.controller.abort(signal);
  }

  /** @returns whether its code has ended; where it has not, nobody waits for it from now on */
  async #end(resident: Resident, graceMs: number, signal?: EndSignal): Promise<boolean> {
    this.#want(resident, signal);
    const done = resident.done.then(() => true);
    const late = new AbortController();
    const isDone = await Promise.race([done, pause(graceMs, late.signal).then(() => false)]);
    late.abort();
    if (!isDone) this.#over(resident, "given-up", 0);
    return isDone;
  }

  async #takeBack(resident: Resident): Promise<void> {
    const { instance, paths } = resident.request;
    this.#want(resident);
    const tree = { root: { pid: 0, procStart: "" }, host: ownIdentity(), marker: instance };
    await endTree(tree, { graceMs: LEFTOVER_GRACE_MS });
    await this.#end(resident, LEFTOVER_GRACE_MS);
    this.#forget(instance);
    discardLaunch(paths);
  }

  #over(resident: Resident, event: InProcessEvent, code: number): void {
    if (isOver(resident.state)) return;
    this.#happened(resident, event);
    try {
      recordEnd(resident, code, this.#clock.now());
    } catch (error) {
      const text = `the end of ${resident.name} could not be written down: ${messageOf(error)}`;
      resident.write(`teams: ${text}\n`);
      this.#options.problem?.(text);
    }
    resident.log.close();
    this.#changed();
  }

  #happened(resident: Resident, event: InProcessEvent | undefined): void {
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
    this.#contain();
    this.#changed();
  }

  /** While anybody lives here. */
  #contain(): void {
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

/** Milliseconds for what a failed start has begun. */
const LEFTOVER_GRACE_MS = 500;
/** Milliseconds that they have when the terminal is gone: their commands are given half a second. */
const HANGUP_GRACE_MS = 1_500;

function nobodyCanBeStarted(): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    "In-process teammates live in a lead's process, and this command ends.",
    {
      hint: "Use `teams run --teammate-mode in-process`, or --teammate-mode process here.",
    },
  );
}

function noDirectory(name: string, cwd: string): TeamError {
  return new TeamError("SPAWN_FAILED", `${name} was not started: its directory ${cwd} is not there.`, {
    hint: "Nothing is left behind. Make the directory and spawn it again.",
    details: { exitCode: 1, lastLines: [] },
  });
}
