// Jobs or nodes by key, from every source: pages of a list, live events, details, answers to changes. Of two readings of one
// thing the one with the greater revision stays. A reading without a revision (from an older coordinator) counts as of its
// request, so among such readings the order of arrival decides.
import { signal, type ReadonlySignal } from "@preact/signals";

interface Revised {
  revision?: number;
}

const revisionOf = (entity: Revised) => entity.revision ?? 0;

/** Makes several changes at once; readers see only the result. */
export interface Draft<Key, Entity> {
  get(key: Key): Entity | undefined;
  /** `asOf`: the newest message of the live stream at the time of the request. */
  put(entity: Entity, asOf: number): void;
  /** Changes a part of what was read before message `id`. An older reading must not undo the change. */
  adjust(key: Key, change: (entity: Entity) => Entity, id: number): void;
}

export class Entities<Key, Entity extends Revised> {
  private readonly map = signal<ReadonlyMap<Key, Entity>>(new Map());

  constructor(private readonly keyOf: (entity: Entity) => Key) {}

  /** The map is replaced, never changed in place. Unchanged things keep their identity. */
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

  /**
   * A whole list has been read, which was begun when `since` was the newest message. Things that it lacks are
   * removed unless they arrived later.
   */
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

  /**
   * The stream begins anew at `id`: revisions above it come from an earlier coordinator, and everything read from
   * now on is newer.
   */
  forgetRevisionsFrom(id: number): void {
    const isOld = (entity: Entity) => revisionOf(entity) >= id;
    if (![...this.map.peek().values()].some(isOld)) return;
    const aged = (entity: Entity) => (isOld(entity) ? { ...entity, revision: 0 } : entity);
    this.map.value = new Map([...this.map.peek()].map(([key, entity]) => [key, aged(entity)]));
  }
}
