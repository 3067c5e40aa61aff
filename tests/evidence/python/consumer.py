"""A consumer of the contract as one writes it with SQLAlchemy and pika, to be measured beside Rust's.

It takes the same arguments as `scale consume`, does the same work in the same tables, and says the same
line at its end.
"""

import argparse
import json
import os
import time

import pika
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

CONSTRAINT = "uq_effect_event_name"
EFFECT = "notification"


class Base(DeclarativeBase):
    """The tables, which are there already."""


class Receipt(Base):
    """One effect of one event."""

    __tablename__ = "effect_receipts"
    event_id: Mapped[str] = mapped_column(primary_key=True)
    effect_name: Mapped[str] = mapped_column(primary_key=True)


class Task(Base):
    """The effect itself."""

    __tablename__ = "business_tasks"
    id: Mapped[str] = mapped_column(primary_key=True)
    ticket_id: Mapped[str]
    tenant_id: Mapped[str]
    task_type: Mapped[str]
    status: Mapped[str]


def apply_once(session: Session, event_id: str, ticket_id: str, task_id: str) -> bool:
    """Writes receipt and task in one transaction. False if the receipt was there."""
    try:
        with session.begin():
            session.add(Receipt(event_id=event_id, effect_name=EFFECT))
            session.flush()
            session.add(
                Task(
                    id=task_id,
                    ticket_id=ticket_id,
                    tenant_id="tenant-1",
                    task_type=EFFECT,
                    status="pending",
                )
            )
    except sa.exc.IntegrityError as error:
        # Only the receipt's own constraint means duplicate.
        if error.orig.diag.constraint_name == CONSTRAINT:
            return False
        raise
    finally:
        session.expunge_all()
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("database", "schema", "broker", "queue", "design"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("prefetch", "idle"):
        parser.add_argument(f"--{name}", required=True, type=int)
    options = parser.parse_args()
    if options.design != "contract":
        parser.error("this consumer knows the contract alone")

    url = sa.make_url(options.database).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, connect_args={"options": f"-c search_path={options.schema}"})
    connection = pika.BlockingConnection(pika.URLParameters(options.broker))
    channel = connection.channel()
    channel.basic_qos(prefetch_count=options.prefetch)
    report = dict(deliveries=0, redelivered=0, applied=0, duplicates=0, first=0, last=0)
    with Session(engine) as session:
        idle = options.idle / 1000
        for method, properties, body in channel.consume(options.queue, inactivity_timeout=idle):
            if method is None:
                break
            report["first"] = report["first"] or now()
            task_id = f"{os.getpid()}-{report['deliveries']}"
            applied = apply_once(session, properties.message_id, body.decode(), task_id)
            channel.basic_ack(method.delivery_tag)
            report["deliveries"] += 1
            report["redelivered"] += method.redelivered
            report["applied" if applied else "duplicates"] += 1
            report["last"] = now()
        channel.cancel()
    connection.close()
    print(json.dumps(report))


def now() -> int:
    """Milliseconds of the clock that all processes of the machine share."""
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    main()
