import { expect } from "vitest";
import type { Script } from "../processes/script-process.ts";
import type { Report } from "./acknowledged-changes.ts";

/** A process of `random-operations` that works, pauses on request, and can be killed at any moment. */
export class Killable {
  readonly #process: Script;
  readonly #allRead: Promise<void>;
  #reports: Report[] = [];
  #isPaused = false;
  #onPause = (): void => undefined;
  #begun = 0;
  #onBegin = (): void => undefined;

  constructor(process: Script) {
    this.#process = process;
    this.#allRead = this.#readReports();
    // The caller that waits for this process sees the failure.
    this.#allRead.catch(() => undefined);
  }

  async #readReports(): Promise<void> {
    for (;;) {
      // Throws when the process has ended and all its output is read.
      const line = await this.#process.line().catch(() => undefined);
      if (line === undefined) return;
      this.#handle(JSON.parse(line));
    }
  }

  #handle(report: Report): void {
    this.#reports.push(report);
    if (report.at === "begins") {
      this.#begun += 1;
      this.#onBegin();
    }
    if (report.at !== "paused") return;
    this.#isPaused = true;
    this.#onPause();
  }

  /** Returns the reports since the last call. */
  takeReports(): Report[] {
    const reports = this.#reports;
    this.#reports = [];
    return reports;
  }

  go(): void {
    this.#isPaused = false;
    this.#process.say("go");
  }

  /** Resolves when the process pauses between two operations, where it waits for `go`. */
  async paused(): Promise<void> {
    if (this.#isPaused) return;
    await this.#unlessEnded(
      new Promise<void>((resolve) => {
        this.#onPause = resolve;
      }),
    );
  }

  /** Resolves when the process has begun this many more operations. */
  async begins(count: number): Promise<void> {
    const wanted = this.#begun + count;
    await this.#unlessEnded(
      new Promise<void>((resolve) => {
        this.#onBegin = () => {
          if (this.#begun >= wanted) resolve();
        };
      }),
    );
  }

  async #unlessEnded(event: Promise<void>): Promise<void> {
    const ended = this.#allRead.then(async () => {
      throw new Error(`The process ended unexpectedly: ${JSON.stringify(await this.#process.ended())}`);
    });
    await Promise.race([event, ended]);
  }

  async pause(): Promise<void> {
    this.#process.say("pause");
    await this.paused();
  }

  /** Kills the process and reads its remaining reports. */
  async kill(): Promise<void> {
    this.#process.child.kill("SIGKILL");
    expect(await this.#process.ended()).toMatchObject({ signal: "SIGKILL", stderr: "" });
    await this.#allRead;
  }
}
