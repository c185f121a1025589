"""Sail: Spark's protocol over DataFusion; reads the table's folder."""
import os
import socket
import sys

from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

from foreign_reader import quoted, serve


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    port = free_port()
    server = SparkConnectServer("127.0.0.1", port)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")

    def read(job, columns):
        return session.read.format("iceberg").load(job["location"].rsplit("/metadata/", 1)[0]).selectExpr(*quoted(columns)).toArrow()

    serve(read)
    sys.stdout.flush()
    os._exit(0)  # the server's threads would keep the process


main()
