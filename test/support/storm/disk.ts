import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, copyFileSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { isSystemError } from "../../../src/errors.ts";
import { mayMount } from "../files/may-mount.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { eventually } from "../timing/eventually.ts";

/** A mounted disk of a test, for the root of its teams. */
export interface Disk {
  readonly path: string;
  /** Fills the disk to the last byte, then frees this many bytes. */
  fill(freeBytes: number): void;
  empty(): void;
  /** @returns false if the disk is busy: a process has a file open for writing */
  remount(how: "ro" | "rw"): boolean;
  /** Drops all unsynced data. Until `mountAgain`, every access fails. */
  cutPower(): void;
  mountAgain(): Promise<void>;
}

/** Ioctl EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: the file system ends as in a power cut. */
const CUT = 'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die $!';

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "pipe" });
const works = (program: string, ...args: string[]) =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Mounts a small disk in memory. */
export function memoryDisk(size = "12m"): Disk {
  return diskAt((path) => run("mount", "-t", "tmpfs", "-o", `size=${size},mode=700`, "none", path));
}

/** Mounts an ext4 file system in a file. Its mount options keep the kernel from syncing unless asked. */
export function fileDisk(): Disk {
  const directory = temporaryDirectory("tt-image-");
  let image = join(directory, "image");
  let mounts = 0;
  closeSync(openSync(image, "w"));
  const fd = openSync(image, "r+");
  ftruncateSync(fd, 32 * 1024 * 1024);
  closeSync(fd);
  run("mkfs.ext4", "-q", "-F", image);
  return diskAt((path) => {
    if (mounts > 0) {
      // A sandbox of another test may still hold the file system that was shut down: mounting its image would return that one again.
      const next = join(directory, `image-${mounts}`);
      copyFileSync(image, next);
      rmSync(image);
      image = next;
    }
    mounts += 1;
    run("mount", "-o", "loop,noauto_da_alloc,commit=60", image, path);
  });
}

function diskAt(mount: (path: string) => unknown): Disk {
  const path = join(temporaryDirectory("tt-disk-"), "disk");
  const filler = join(path, "filler");
  mkdirSync(path);
  mount(path);
  // Unmounts lazily: a process of a failed test may still use the disk.
  onTestFinished(() => void works("umount", "-l", path));
  return {
    path,
    fill: (freeBytes) => fill(filler, freeBytes),
    empty: () => rmSync(filler, { force: true }),
    remount: (how) => works("mount", "-o", `remount,${how}`, path),
    cutPower: () => void run("perl", "-e", CUT, path),
    mountAgain: async () => {
      await eventually("the unmounted disk", () => works("umount", path));
      mount(path);
    },
  };
}

/** Writes ever smaller blocks until none fits, then frees some bytes. */
function fill(filler: string, freeBytes: number): void {
  const fd = openSync(filler, "w");
  let written = 0;
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 2) {
    for (let done = 1; done > 0; written += done) done = writeSome(fd, bytes);
  }
  ftruncateSync(fd, Math.max(0, Math.floor(written - freeBytes)));
  closeSync(fd);
}

/** Returns the bytes written; 0 if the disk is full. */
function writeSome(fd: number, bytes: number): number {
  try {
    return writeSync(fd, Buffer.alloc(bytes));
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

/** Whether {@link mayMount this user may mount} a disk in memory. */
export const MAY_MOUNT = mayMount();
/** Whether this user may also mount a file, and cut its power. */
export const MAY_CUT_POWER =
  MAY_MOUNT &&
  works("perl", "-v") &&
  works("mkfs.ext4", "-V") &&
  works(
    "sh",
    "-ec",
    `d=$(mktemp -d); trap 'umount "$d" || :; rm -rf "$d" "$d.image"' EXIT; truncate -s 4M "$d.image"
    mkfs.ext4 -q -F "$d.image"; mount -o loop "$d.image" "$d"; perl -e '${CUT}' "$d"`,
  );
