import { expect, it } from "vitest";
import { script } from "../../support/processes/script-process.ts";

const start = script("processes/handle-interrupt");
const startUnfinished = script("processes/never-settles");

/** Milliseconds of work after the first signal: longer than the span in which two signals count as one. */
const BUSY = { SIGINT: "300", SIGTERM: "1200" };

it.each(["SIGINT", "SIGTERM"] as const)(
  "a second %s › ends the program, even while it handles the first",
  async (signal) => {
    const program = start(BUSY[signal]);
    expect(await program.line()).toBe("ready");
    program.child.kill(signal);
    expect(await program.line()).toBe(signal);
    program.child.kill(signal);
    expect(await program.ended()).toMatchObject({ signal });
  },
);

it.each(["SIGHUP", "SIGTERM"] as const)(
  "a second %s › counts as the first if it follows at once",
  async (signal) => {
    const program = start("0", "at once");
    expect(await program.line()).toBe("ready");
    program.child.kill(signal);
    expect(await program.line()).toBe(signal);
    program.child.kill(signal);
    // The first answer may come before the signal is handled; the second cannot.
    for (const question of ["there?", "still there?"]) {
      program.say(question);
      expect(await program.line()).toBe("here");
    }
  },
);

it.each(["own", "foreign"] as const)(
  "a Ctrl-C while the command ends › ends the program at once when its keys are %s",
  async (keys) => {
    const program = start("0", keys);
    expect(await program.line()).toBe("ready");
    program.say("ending");
    expect(await program.line()).toBe("here");
    program.child.kill("SIGINT");
    expect(await program.ended()).toMatchObject({ signal: "SIGINT" });
  },
);

it("a Ctrl-C after a SIGTERM › ends the program at once when the command ends", async () => {
  const program = start("0");
  expect(await program.line()).toBe("ready");
  program.child.kill("SIGTERM");
  expect(await program.line()).toBe("SIGTERM");
  program.say("ending");
  expect(await program.line()).toBe("here");
  program.child.kill("SIGINT");
  expect(await program.ended()).toMatchObject({ signal: "SIGINT" });
});

it("a Ctrl-C that belongs to another program › is ignored", async () => {
  const program = start("0", "foreign");
  expect(await program.line()).toBe("ready");
  program.child.kill("SIGINT");
  for (const question of ["there?", "still there?"]) {
    program.say(question);
    expect(await program.line()).toBe("here");
  }
});

it("a vanished terminal › counts as a hangup even without a signal, and is not an error", async () => {
  const program = start("0");
  expect(await program.line()).toBe("ready");
  program.say("gone");
  expect(await program.line()).toBe("SIGHUP");
  expect(await program.line()).toBe("here");
});

it("a command that waits for an event that cannot come › fails and says so", async () => {
  const program = startUnfinished();
  expect(await program.line()).toBe("begun");
  expect(await program.ended()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("before it was done"),
  });
});
