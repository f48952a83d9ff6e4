// Jobs or nodes by their key, from wherever they come: pages of a list, live events, details, answers to a change. Of two
// readings of one thing the one with the greater revision stays. What carries none (an older coordinator) counts as read
// when it was asked for, so that among such things the order of arrival decides.
import { signal, type ReadonlySignal } from "@preact/signals";

interface Revised {
  revision?: number;
}

const revisionOf = (entity: Revised) => entity.revision ?? 0;

/** Changes to several at once, of which readers see the outcome only. */
export interface Draft<Key, Entity> {
  get(key: Key): Entity | undefined;
  /** `asOf`: the newest message of the live stream when it was asked for. */
  put(entity: Entity, asOf: number): void;
  /** Changes what was read before message `id` by less than a whole reading of it, which an older reading must not hide. */
  adjust(key: Key, change: (entity: Entity) => Entity, id: number): void;
}

export class Entities<Key, Entity extends Revised> {
  private readonly map = signal<ReadonlyMap<Key, Entity>>(new Map());

  constructor(private readonly keyOf: (entity: Entity) => Key) {}

  /** Replaced, never changed in place; what did not change keeps its identity. */
  get all(): ReadonlySignal<ReadonlyMap<Key, Entity>> {
    return this.map;
  }

  edit<T>(change: (draft: Draft<Key, Entity>) => T): T {
    let next: Map<Key, Entity> | null = null;
    const set = (key: Key, entity: Entity) => (next ??= new Map(this.map.peek())).set(key, entity);
    const get = (key: Key) => (next ?? this.map.peek()).get(key);
    const answer = change({
      get,
      put: (entity, asOf) => {
        const known = get(this.keyOf(entity));
        const revision = entity.revision ?? asOf;
        if (known === undefined || revisionOf(known) <= revision)
          set(this.keyOf(entity), { ...entity, revision });
      },
      adjust: (key, adjusted, id) => {
        const known = get(key);
        if (known && revisionOf(known) < id) set(key, adjusted(known));
      },
    });
    if (next) this.map.value = next;
    return answer;
  }

  put(entities: readonly Entity[], asOf: number): void {
    this.edit((draft) => entities.forEach((entity) => draft.put(entity, asOf)));
  }

  /** A whole list has been read, begun when `since` was the newest message: what it lacks has gone, unless it came later. */
  keepOnly(listed: ReadonlySet<Key>, since: number): void {
    this.drop(([key, entity]) => !listed.has(key) && revisionOf(entity) < since);
  }

  forgetAllBut(kept: ReadonlySet<Key>): void {
    this.drop(([key]) => !kept.has(key));
  }

  private drop(isGone: (entry: [Key, Entity]) => boolean): void {
    const kept = [...this.map.peek()].filter((entry) => !isGone(entry));
    if (kept.length < this.map.peek().size) this.map.value = new Map(kept);
  }

  /** Revisions from `id` on, of a message that begins anew, are of a coordinator of before: whatever is read from now on is newer. */
  forgetRevisionsFrom(id: number): void {
    const isOld = (entity: Entity) => revisionOf(entity) >= id;
    if (![...this.map.peek().values()].some(isOld)) return;
    const aged = (entity: Entity) => (isOld(entity) ? { ...entity, revision: 0 } : entity);
    this.map.value = new Map([...this.map.peek()].map(([key, entity]) => [key, aged(entity)]));
  }
}
