import type { AgentState } from "../schema/status.ts";
import type { SpawnRequest } from "./backend.ts";

/** What reaches a worker from within its process, besides its mail. */
export interface WorkerHands {
  typed(line: string): Promise<void>;
  /** @returns whether a turn was running */
  interrupt(): boolean;
}

/** One start of a worker in this process. */
export interface WorkerStart {
  readonly request: SpawnRequest;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
  /** What stands for its terminal. */
  write(text: string): void;
  /** What it says of itself. */
  said(state: AgentState): void;
  reach(hands: WorkerHands): void;
  /** Whether nobody waits for it any more: it says nothing then, in no file. */
  isOver(): boolean;
}

/** Runs a worker until its end. @returns the exit status that a process of its own would have */
export type RunWorker = (start: WorkerStart) => Promise<number>;
